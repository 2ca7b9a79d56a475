package activities

import (
	"context"
	"fmt"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/hostgroups"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/urls"
)

// HostInput asks a worker what it knows of a host.
type HostInput struct {
	Queue string `json:"queue"` // of the worker
	Host  string `json:"host"`
}

// HostResult is what a worker knows of a host.
type HostResult struct {
	frontier.HostReport
	Worker  string            `json:"worker"`
	Address string            `json:"address,omitempty"` // under which it is leased, as its name is looked up now
	Unknown string            `json:"unknown,omitempty"` // why it has no address
	Server  hostgroups.Server `json:"server"`            // by the worker's host groups
	Groups  string            `json:"groups,omitempty"`  // their hash
}

// hostLookup is how long the look-up of a host's name may take that an operator asks for.
const hostLookup = 5 * time.Second

// Host reports what this worker knows of a host, over all its crawls.
func (a *Activities) Host(ctx context.Context, in HostInput) (HostResult, error) {
	out := HostResult{Worker: a.Settings.Worker, Groups: a.Groups.Hash()}
	u, err := urls.Parse("http://" + in.Host + "/")
	if err != nil {
		return out, &crawl.InputError{Message: fmt.Sprintf("%q is no host: %v", in.Host, pipeline.Reason(err))}
	}
	if out.HostReport, err = a.Frontier.Host(u); err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, hostLookup)
	defer cancel()
	addr, err := a.Fetch.Address(ctx, u.Host())
	if err != nil {
		out.Unknown = err.Error()
		out.Server = a.Groups.Of(u.PLD(), "")
		return out, nil
	}
	out.Address, out.Server = a.leaseAddress(addr.String()), a.Groups.Of(u.PLD(), addr.String())
	return out, nil
}
