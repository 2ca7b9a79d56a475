package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/tree"
	"github.com/muninn-archive/muninn/workflows"
)

// orderKind is what an operator orders while there are faults.
type orderKind string

const (
	orderSubmit    orderKind = "submit"    // pages to which nothing leads
	orderBan       orderKind = "blacklist" // pages that wait, are being fetched, or are fetched already
	orderConfigure orderKind = "configure" // a longer pause of one PLD
	orderPause     orderKind = "pause"     // and resume
)

// orderWeights is how often an order comes, compared with others.
var orderWeights = []struct {
	kind   orderKind
	weight int
}{{orderSubmit, 4}, {orderBan, 4}, {orderConfigure, 2}, {orderPause, 1}}

// order is one of a chaos run, to a crawl, about one of its hosts.
type order struct {
	Kind  orderKind
	Crawl int
	Host  int // of those that no other crawl has
	At    time.Duration
	For   time.Duration // of a pause
}

// maxPaused is how long a crawl is paused at most; orderedURLs is how many URLs a list of an order has.
const (
	maxPaused   = 4 * time.Second
	orderedURLs = 2
)

// orders chooses the orders of a run. They have a source of their own: the faults of a seed are the same without them.
func (p chaosPlan) orders(seed uint64) (list []order) {
	if p.orderEvery == 0 {
		return nil
	}
	r, all := rand.New(rand.NewPCG(seed, ^seed)), 0
	for _, k := range orderWeights {
		all += k.weight
	}
	for at := between(r, 0, p.orderEvery); at < p.time; at += between(r, 0, 2*p.orderEvery) {
		pick := r.IntN(all)
		for _, k := range orderWeights {
			if pick -= k.weight; pick < 0 {
				list = append(list, order{k.kind, r.IntN(len(chaosCrawls)), r.IntN(p.hosts), at, between(r, time.Second, maxPaused)})
				break
			}
		}
	}
	return list
}

// chaosOrders carries out orders beside the faults, each until it is answered.
type chaosOrders struct {
	rig      *chaosRig
	given    sync.WaitGroup
	next     []order
	answered map[orderKind]int

	mu     sync.Mutex
	left   map[string][]string // URLs that are not ordered yet, by host and kind
	taken  []map[string]bool   // by crawl: submitted URLs that it has accepted
	banned []map[string]time.Time
	unsure []map[string]bool // URLs of orders to which there was no answer before the crawl ended
}

func newChaosOrders(r *chaosRig, list []order) *chaosOrders {
	o := &chaosOrders{rig: r, next: list, answered: map[orderKind]int{}, left: map[string][]string{}}
	for range chaosCrawls {
		o.taken, o.banned, o.unsure = append(o.taken, map[string]bool{}), append(o.banned, map[string]time.Time{}), append(o.unsure, map[string]bool{})
	}
	return o
}

// hostsOfCrawl are the hosts that a crawl of the run has to itself.
func (r *chaosRig) hostsOfCrawl(n int) (list []string) {
	for h, s := range r.world.Sites() {
		if own := []int{0, tree.Groups - 1}[n]; tree.Group(h) == own { // the group between them is that of both
			list = append(list, s.Host)
		}
	}
	return list
}

// give begins the orders whose time has come.
func (o *chaosOrders) give(t *testing.T, since time.Duration) {
	t.Helper()
	for len(o.next) > 0 && o.next[0].At <= since {
		next := o.next[0]
		o.next = o.next[1:]
		o.given.Go(func() { o.carryOut(t, next) })
	}
}

// wait waits until all orders are answered, or their crawls have ended.
func (o *chaosOrders) wait(t *testing.T) {
	t.Helper()
	o.given.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	for n, c := range o.rig.crawls {
		t.Logf("%s: %d URLs were submitted, %d blacklisted, %d were in orders without an answer", c.Name, len(o.taken[n]), len(o.banned[n]), len(o.unsure[n]))
	}
	t.Logf("answered: %v", o.answered)
}

// urls are some URLs of a host that were in no order yet.
func (o *chaosOrders) urls(kind orderKind, host string) (list []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := string(kind) + " " + host
	if _, known := o.left[key]; !known {
		if kind == orderSubmit {
			o.left[key] = tree.Unlinked(o.rig.world, host)
		} else {
			o.left[key] = tree.Leaves(o.rig.world, host, o.rig.plan.pages)
		}
	}
	n := min(orderedURLs, len(o.left[key]))
	list, o.left[key] = o.left[key][:n], o.left[key][n:]
	return list
}

func (o *chaosOrders) carryOut(t *testing.T, next order) {
	hosts := o.rig.hostsOfCrawl(next.Crawl)
	host, name := hosts[next.Host%len(hosts)], chaosCrawls[next.Crawl]
	id := fmt.Sprintf("%s-%s-%s", next.Kind, host, next.At)
	answered := false
	switch next.Kind {
	case orderSubmit, orderBan:
		answered = o.handIn(t, next, name, host, id)
	case orderConfigure:
		fields := fmt.Sprintf(`{"overrides": {"plds": {%q: {"min_delay": %q}}}}`, host, (2 * o.rig.plan.delay).String())
		answered = o.update(t, name, names.UpdateConfig, id, json.RawMessage(fields), nil)
	case orderPause:
		if answered = o.signal(t, name, names.SignalPause); answered {
			<-time.After(next.For)
			answered = o.signal(t, name, names.SignalResume)
		}
	}
	if answered {
		o.mu.Lock()
		o.answered[next.Kind]++
		o.mu.Unlock()
	}
}

// handIn hands URLs in, and notes what is answered for each.
func (o *chaosOrders) handIn(t *testing.T, next order, name, host, id string) (answered bool) {
	var list []frontier.Submission
	handed := o.urls(next.Kind, host)
	for _, u := range handed {
		list = append(list, frontier.Submission{Discovery: crawl.Discovery{URL: u, Score: 0.5}, Blacklisted: next.Kind == orderBan})
	}
	var out workflows.SubmitResult
	if len(list) > 0 {
		answered = o.update(t, name, names.UpdateSubmit, id, list, &out)
	}
	at := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !answered {
		for _, u := range handed {
			o.unsure[next.Crawl][u] = true
		}
		return false
	}
	for i, a := range out.URLs {
		switch {
		case next.Kind == orderBan && a.Answer == frontier.SubmitBlacklisted:
			o.banned[next.Crawl][handed[i]] = at
		case next.Kind == orderSubmit && (a.Answer == frontier.SubmitAccepted || a.Answer == frontier.SubmitKnown): // known: an answer before was lost
			o.taken[next.Crawl][handed[i]] = true
		default:
			t.Errorf("%s of %s in %s: %+v", next.Kind, handed[i], name, a)
		}
	}
	return true
}

// try tries something until it is done; false if the crawl has ended before.
func (o *chaosOrders) try(t *testing.T, name string, do func(ctx context.Context) error) bool {
	var last error
	for end := time.Now().Add(chaosEnd); time.Now().Before(end) && t.Context().Err() == nil; <-time.After(200 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		err := do(ctx)
		cancel()
		var none *serviceerror.NotFound
		if err == nil {
			return true
		}
		if d, errOf := o.rig.client.DescribeWorkflowExecution(t.Context(), names.CrawlID(name), ""); errors.As(err, &none) && errOf == nil && d.GetWorkflowExecutionInfo().GetCloseTime() != nil {
			return false
		}
		if strings.Contains(err.Error(), "the crawl is ending") || strings.Contains(err.Error(), "already completed") {
			return false
		}
		last = err
	}
	t.Errorf("an order to %s is not carried out: %v", name, last)
	return false
}

func (o *chaosOrders) update(t *testing.T, name, update, id string, in, out any) bool {
	return o.try(t, name, func(ctx context.Context) error {
		handle, err := o.rig.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
			WorkflowID: names.CrawlID(name), UpdateID: id, UpdateName: update, Args: []any{in}, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err != nil {
			return err
		}
		return handle.Get(ctx, out)
	})
}

func (o *chaosOrders) signal(t *testing.T, name, signal string) bool {
	return o.try(t, name, func(ctx context.Context) error {
		return o.rig.client.SignalWorkflow(ctx, names.CrawlID(name), "", signal, nil)
	})
}

// apply changes what the archives of the crawls must have: submitted pages once; what was blacklisted, and what was in orders without an answer, once or not at all.
func (o *chaosOrders) apply() {
	for n := range o.rig.crawls {
		c := &o.rig.crawls[n]
		c.may, c.unsure = maps.Clone(o.unsure[n]), int64(len(o.unsure[n]))
		for u := range o.banned[n] {
			c.may[u] = true
		}
		c.pages = slices.DeleteFunc(c.pages, func(p webworld.Page) bool { return c.may[p.URL] })
		for u := range o.taken[n] {
			c.pages = append(c.pages, webworld.Page{URL: u, Allowed: true})
		}
	}
}

// check looks for requests for what was blacklisted. One that was about to be made as the answer came is none of them.
func (o *chaosOrders) check(t *testing.T) {
	t.Helper()
	asked := map[string]time.Time{} // last
	for _, a := range o.rig.world.Trace() {
		asked[a.URL] = a.Began
	}
	for n, taken := range o.taken {
		for u := range taken {
			if asked[u].IsZero() {
				t.Errorf("%s: %s was accepted, and never asked for", chaosCrawls[n], u)
			}
		}
	}
	for n, banned := range o.banned {
		before := 0
		for u, at := range banned {
			if first, known := asked[u]; known && first.Before(at) {
				before++
			}
			if late := asked[u].Sub(at); late > inForce {
				t.Errorf("%s: %s was asked for %v after it was blacklisted", chaosCrawls[n], u, late)
			}
		}
		t.Logf("%s: of %d URLs that were blacklisted %d had been asked for before", chaosCrawls[n], len(banned), before)
	}
}
