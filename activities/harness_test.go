package activities

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/archivecheck"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/spool"
	"github.com/muninn-archive/muninn/kb"
)

// rig has a worker's steps with frontier, spool and a folder archive, without Temporal and without a network: the tests put
// exchanges into the spool.
type rig struct {
	*Activities
	t    *testing.T
	env  *testsuite.TestActivityEnvironment
	dir  string // of the archive
	data string // of the frontier

	options frontier.Options
	round   int64
	// refuse is the number of writes that the frontier's disk still has room for; negative: for any.
	refuse atomic.Int64
}

const (
	rigCrawl = "c"
	rigSeed  = "http://a.example/"
	rigIP    = "192.0.2.1"

	rigInstance = "0123456789abcdef" // of the data folder
)

type noMeter struct{}

func (noMeter) Fetched(int, int64, time.Duration) {}
func (noMeter) Outcome(crawl.OutcomeKind)         {}
func (noMeter) Archived(int, int64)               {}

var shipped = sync.OnceValues(kb.Shipped)

// testTable is the table in memory of a test's frontier, in bytes. Opening one with tables of the default clears 74 MB.
const testTable = 8 << 20

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigOf(t, "w", t.TempDir(), nil)
}

// newRigOf is the rig of a worker by its name, with an archive in a folder; member is nil if it is in no ring.
func newRigOf(t *testing.T, worker, dir string, member *Membership) *rig {
	t.Helper()
	r := &rig{t: t, dir: dir, data: t.TempDir()}
	r.refuse.Store(-1)
	r.options.Table = testTable
	if r.options.Room = r.room; member != nil {
		r.options.NoSync = true
		r.options.Rights = member.Rights()
	}
	front, err := frontier.Open(r.data, r.options)
	r.must(err)
	t.Cleanup(func() { _ = r.Frontier.Close() })
	files, err := spool.Open(t.TempDir())
	r.must(err)
	base, err := shipped()
	r.must(err)
	r.Activities = &Activities{
		Settings: Settings{Worker: worker, Instance: rigInstance, Queue: "muninn", Attempts: 3, Software: "Muninn test"},
		Frontier: front, Spool: files, Engine: pipeline.New(front, aah.New(base, aah.DefaultLimits()), score.NewDictionary(), page.DefaultLimits(), time.Now),
		Archives: &Archives{Default: r.dir, Allow: []string{os.TempDir()}}, Meter: noMeter{}, Now: time.Now, Membership: member,
	}
	Observe(r.Engine)
	r.Engine.Worker = r.Settings.Worker
	r.env = newEnv(r.Activities)
	return r
}

// newEnv runs activities as a worker does.
func newEnv(a *Activities) *testsuite.TestActivityEnvironment {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{Interceptor(a)}})
	Register(env, a)
	return env
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// begin begins a run of the crawl.
func (r *rig) begin(owner string, edit func(*crawl.Definition)) BeginResult {
	r.t.Helper()
	out, err := call[BeginResult](r, r.Begin, BeginInput{Definition: r.definition(edit), Owner: owner, Holder: r.holder()})
	r.must(err)
	return out
}

func (r *rig) definition(edit func(*crawl.Definition)) crawl.Definition {
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds, d.Scope.Within = rigCrawl, []crawl.Seed{{URL: rigSeed}}, crawl.WithinWeb
	if edit != nil {
		edit(&d)
	}
	return d
}

// call runs a step as Temporal does.
func call[T any](r *rig, step, in any) (out T, err error) {
	value, err := r.env.ExecuteActivity(step, in)
	if err == nil && value.HasValue() {
		err = value.Get(&out)
	}
	return out, err
}

func (r *rig) do(step, in any) error {
	_, err := r.env.ExecuteActivity(step, in)
	return err
}

// claim is a round of the crawl's controller.
func (r *rig) claim() frontier.Round {
	r.t.Helper()
	r.round++
	round, err := r.Frontier.Crawl(rigCrawl).Claims().Claim(r.t.Context(), frontier.Want{
		Round: r.round, Claims: 10, Lanes: 100, Until: time.Now(), MaxFail: 3,
		Resolve: func(context.Context, string) (string, error) { return rigIP, nil },
		Refused: func(error) bool { return false }, Backoff: func(int) time.Duration { return 0 },
	})
	r.must(err)
	return round
}

// batch claims what is ready, binds it to a batch and opens that.
func (r *rig) batch() BatchInput {
	r.t.Helper()
	round := r.claim()
	if len(round.Claims) == 0 {
		r.t.Fatal("nothing is ready")
	}
	in := BatchInput{Holder: r.holder(), Crawl: rigCrawl, Batch: names.BatchName{Claim: round.Claims[0].ID, Worker: r.Settings.Worker}.String(), Attempts: r.Settings.Attempts}
	var grants []politeness.Grant
	for _, c := range round.Claims {
		grants = append(grants, politeness.Grant{Lease: c.ID, IP: c.IP, Deadline: time.Now().Add(time.Hour)})
		in.Claims = append(in.Claims, ClaimRef{c.ID, c.PLD, c.IP})
	}
	_, err := r.Frontier.Crawl(rigCrawl).Batch(in.Batch).Start(grants)
	r.must(err)
	return in
}

// open opens a batch, and fetches what it has no exchange of: answer gives the body of a URL.
func (r *rig) open(in BatchInput, answer func(url string) string) OpenResult {
	r.t.Helper()
	out, err := call[OpenResult](r, r.Open, in)
	r.must(err)
	if out.Archived || out.Done {
		return out
	}
	lanes, log, entries := r.spooled(in)
	had := map[string]bool{}
	for _, e := range entries {
		had[e.URL] = true
	}
	for _, l := range lanes {
		for _, t := range l.Targets {
			if !had[t.URL] {
				r.must(log.Append(exchange(t, l.Claim, answer(t.URL))))
			}
		}
		r.must(r.Frontier.Crawl(in.Crawl).Lane(l.Claim.ID).End(frontier.LaneEnd{Host: time.Now()}))
	}
	r.must(log.Close())
	return out
}

// spooled is what the spool has of a batch that was opened: its lanes, its log to append to, and what is in the log.
func (r *rig) spooled(in BatchInput) (lanes []lane, log *spool.Log, entries []spool.Entry) {
	r.t.Helper()
	b := r.Spool.Batch(in.Crawl, in.Batch)
	r.must(b.Read(fileLanes, &lanes))
	log, entries, err := b.OpenLog()
	r.must(err)
	return lanes, log, entries
}

// noIcon is how a page says that it has no icon: else that of its host is one of its requisites.
const noIcon = "<link rel=icon href='data:,'>"

func exchange(t crawl.Target, c ClaimRef, body string) (crawl.Exchange, []byte, *strings.Reader, int64) {
	body += noIcon
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n", len(body))
	return crawl.Exchange{
		Kind: crawl.ExchangePage, URL: t.URL, Claim: c.ID, IP: c.IP, Started: time.Now(), Elapsed: time.Millisecond, Status: 200,
		HeaderBytes: int64(len(head)), MIME: "text/html", Via: t.Via, Path: t.Path,
		Outcome: crawl.Outcome{URL: t.URL, Kind: crawl.OutcomeDone, Status: 200, Bytes: int64(len(head) + len(body))},
	}, []byte("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"), strings.NewReader(head + body), int64(len(head) + len(body))
}

// a page with a link to the next.
func linking(url string) string {
	return "<title>A page</title><p>of some words <a href=\"" + url + "next\">next</a>"
}

func (r *rig) states() map[string]string {
	r.t.Helper()
	all := map[string]string{}
	r.must(r.Frontier.Crawl(rigCrawl).URLs().Known(func(url, state string) error {
		all[url] = state
		return nil
	}))
	return all
}

// check checks an archive, which must have no faults.
func (r *rig) check(dir string) archivecheck.Report {
	r.t.Helper()
	report, err := archivecheck.CheckDir(dir)
	r.must(err)
	for _, fault := range report.Faults {
		r.t.Error(fault)
	}
	return report
}

// through puts a store between the steps and the archive.
func (r *rig) through(wrap func(archive.Store) archive.Store) {
	r.t.Helper()
	store, err := r.Archives.Open(r.t.Context(), "")
	r.must(err)
	wrapped := wrap(store)
	r.Archives.open[""], r.Archives.open[store.String()] = wrapped, wrapped
}
