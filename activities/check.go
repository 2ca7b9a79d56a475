package activities

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"regexp"
	"strings"
	"unicode"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/hostgroups"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
)

// checkInput checks the names in the input of an activity; an input that it does not know is refused. Anyone who
// reaches Temporal may start workflows and activities with any input, and crawls and batches name folders and keys.
func checkInput(arg any) error {
	switch in := arg.(type) {
	case string: // of a crawl
		return checkCrawl(in)
	case ConfigureInput:
		return checkDefinition(in.Definition)
	case json.RawMessage: // a definition that is yet to be read
		if len(in) == 0 {
			return errors.New("there is no definition")
		}
		return nil
	case DefinitionChange:
		return checkCrawl(in.Definition.Name)
	case BeginInput:
		return checkDefinition(in.Definition)
	case RestInput:
		return checkCrawl(in.Crawl)
	case PhaseInput:
		return checkCrawl(in.Crawl)
	case ClaimInput:
		return checkCrawl(in.Crawl)
	case StartInput:
		return firstError(checkCrawl(in.Crawl), checkGrants(in.Grants))
	case LeaseInput:
		return firstError(checkInput(in.BatchInput), checkGrants(in.Grants))
	case AskLeasesInput:
		err := checkCrawl(in.Crawl)
		for _, ask := range in.Asks {
			err = firstError(err, checkClaim("lease", ask.Lease), checkLeased(ask.IP))
		}
		return err
	case BatchInput:
		err := firstError(checkCrawl(in.Crawl), checkBatch(in.Batch))
		for _, c := range in.Claims {
			err = firstError(err, checkClaim("claim", c.ID), checkIP(c.IP))
		}
		return err
	case RouteInput:
		return firstError(checkInput(in.BatchInput), checkInput(in.Left))
	case LostInput:
		err := firstError(checkCrawl(in.Crawl), checkWorker(in.Worker), checkPartitions(in.Taken))
		for _, batch := range in.Batches {
			err = firstError(err, checkBatch(batch))
		}
		return err
	case DeliverInput:
		return firstError(checkCrawl(in.Crawl), checkBatch(in.Batch), checkPartitions(in.Partitions))
	case SubmitInput:
		return checkCrawl(in.Crawl)
	case ServeInput:
		if in.Every <= 0 {
			return fmt.Errorf("every: %s must be above 0", in.Every)
		}
		return checkMember(in.RingMember)
	case ViewInput:
		return checkMember(in.RingMember)
	case MembersInput:
		return firstError(checkCrawl(in.Crawl), checkMembers(in.Known))
	case AbsentInput:
		return firstError(checkCrawl(in.Crawl), checkMembers(in.Ring))
	case OwnersInput:
		return checkCrawl(in.Crawl) // Submit says of each URL what is wrong with it
	case IdleInput:
		return checkCrawl(in.Crawl)
	case LearnInput:
		return checkCrawl(in.Crawl)
	case LostTotalsInput:
		return firstError(checkCrawl(in.Crawl), checkWorker(in.Worker))
	case FormerTotalsInput:
		return checkCrawl(in.Crawl)
	case RetireInput:
		return firstError(checkCrawl(in.Crawl), checkWorker(in.Worker))
	case EndInput:
		return checkCrawl(in.Crawl)
	case AskInput:
		return checkCrawl(in.Crawl)
	case HostInput:
		return checkHost(in.Host)
	case DerivableInput:
		return in.check()
	case PendingInput:
		return in.check()
	case DeriveInput:
		return firstError(in.check(), checkSegment(in.Segment))
	case ViewsInput:
		err := in.check()
		for _, name := range in.Segments {
			err = firstError(err, checkSegment(name))
		}
		return err
	case Exported:
		return in.check()
	case PartsInput:
		return in.check()
	case PartInput:
		return in.check()
	case FinishInput:
		return in.check()
	}
	return fmt.Errorf("an input of type %T is not known", arg)
}

// checkPrefix checks the prefix of a crawl: a path in the archive.
func checkPrefix(prefix string) error {
	if prefix != "" && (!fs.ValidPath(prefix) || prefix == "." || !printable(prefix)) {
		return fmt.Errorf("prefix %q: no crawl can lie there", prefix)
	}
	return nil
}

// maxSegment bounds the name of a segment, in bytes: that of a batch and a nonce.
const maxSegment = names.MaxBatchName + 1 + 16

func checkSegment(name string) error {
	if name == "" || len(name) > maxSegment || strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") || !printable(name) {
		return fmt.Errorf("segment %q: no segment can have this name", name)
	}
	return nil
}

func checkMembers(list []Member) error {
	for _, m := range list {
		if err := checkWorker(m.Worker); err != nil {
			return err
		}
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func checkCrawl(name string) error {
	if !crawl.ValidName(name) {
		return fmt.Errorf("crawl %q: no crawl can have this name", name)
	}
	return nil
}

func checkPartitions(list []int) error {
	for _, p := range list {
		if p < 0 || p >= ring.Partitions {
			return fmt.Errorf("partition %d: there are %d", p, ring.Partitions)
		}
	}
	return nil
}

func checkWorker(name string) error {
	if !crawl.ValidName(name) {
		return fmt.Errorf("worker %q: no worker can have this name", name)
	}
	return nil
}

func checkMember(m RingMember) error {
	if !crawl.ValidName(m.Worker) || m.Process == "" {
		return fmt.Errorf("worker %q, process %q: no worker of the ring can have these names", m.Worker, m.Process)
	}
	return nil
}

func checkDefinition(d crawl.Definition) error {
	if err := d.Validate(); err != nil {
		return fmt.Errorf("the definition has faults:\n%w", err)
	}
	return nil
}

// claimName matches the names of claims: the PLD and a number.
var claimName = regexp.MustCompile(`^[^/\\@]+-[0-9]{1,19}$`)

// maxClaimName bounds the name of a claim, in bytes: a host has 253. Batches of earlier versions have the names of claims.
const maxClaimName = 253 + 20

func checkClaim(what, name string) error {
	if len(name) > maxClaimName || !claimName.MatchString(name) || !printable(name) {
		return fmt.Errorf("%s %q: the name must be a pay-level domain, '-' and a number", what, name)
	}
	return nil
}

func checkBatch(name string) error {
	b, err := names.ParseBatch(name)
	if err == nil && b.Worker == "" {
		return checkClaim("batch", name)
	}
	if err == nil && (len(name) > names.MaxBatchName || !crawl.ValidName(b.Worker) || !printable(name)) {
		err = fmt.Errorf("batch %q: no batch can have this name", name)
	}
	return err
}

func printable(name string) bool {
	for _, r := range name {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return false
		}
	}
	return true
}

// Check reports what is wrong with the ask for a loan: anybody who reaches Temporal may send one.
func (in BorrowInput) Check() error {
	claim, _, isLoan := strings.Cut(in.Lease, "@")
	if !isLoan {
		return fmt.Errorf("lease %q: a loan is named CLAIM@ADDRESS", in.Lease)
	}
	return firstError(checkCrawl(in.Crawl), checkClaim("claim", claim), checkLeased(in.IP))
}

func checkGrants(grants []politeness.Grant) error {
	for _, g := range grants {
		if err := firstError(checkClaim("lease", g.Lease), checkLeased(g.IP)); err != nil {
			return err
		}
	}
	return nil
}

// maxHost bounds the name of a host, in bytes (RFC 1035 §2.3.4).
const maxHost = 253

func checkHost(host string) error {
	if u, err := urls.Parse("http://" + host + "/"); err != nil || len(host) > maxHost || strings.ContainsAny(host, "/@?#") || u.Host() == "" {
		return fmt.Errorf("%.260q is no host: write a name or an address, without scheme and path", host)
	}
	return nil
}

// checkLeased checks what a lease is for: an address or a host group.
func checkLeased(ip string) error {
	if name, is := politeness.GroupOf(ip); is && hostgroups.ValidName(name) {
		return nil
	}
	return checkIP(ip)
}

func checkIP(ip string) error {
	if _, err := netip.ParseAddr(ip); err != nil {
		return fmt.Errorf("%q is not an IP address", ip)
	}
	return nil
}
