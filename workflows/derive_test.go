package workflows

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
)

// derivable is an archive as a Derive workflow sees it.
type derivable struct {
	*env
	mu       sync.Mutex
	segments map[string][]string     // by crawl
	derived  map[string]int          // how often a segment was, as STEP CRAWL/SEGMENT
	damaged  map[string]bool         // segments
	runs     func(crawl string) bool // nil: none
	does     func(in activities.DeriveInput) error
	running  int
	most     int // that ran at a time
	views    bool
	viewed   []string                            // inputs of Views: CRAWL, or CRAWL/SEGMENT for each segment
	away     func(in activities.ViewsInput) bool // the database does not answer
}

func newDerivable(t *testing.T, segments map[string][]string) *derivable {
	d := &derivable{env: newEnv(t), segments: segments, derived: map[string]int{}, damaged: map[string]bool{}}
	does(d.env, "Derivable", func(in activities.DerivableInput) (list []activities.DerivedFrom, err error) {
		for _, c := range in.Crawls {
			for _, s := range in.Steps {
				list = append(list, activities.DerivedFrom{Archive: in.Archive, Crawl: c, Step: s})
			}
		}
		return list, nil
	})
	does(d.env, "Pending", func(in activities.PendingInput) (out activities.PendingSegments, err error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.runs != nil && in.Follow {
			out.Runs = d.runs(in.Crawl)
		}
		out.Views = d.views && in.Step == "text"
		list := slices.Clone(d.segments[in.Crawl])
		slices.Sort(list)
		for _, s := range list {
			switch {
			case s <= in.After || d.derived[unreadable(in.DerivedFrom, s)] > 0:
			case len(out.Segments) == in.Most:
				out.More = true
			default:
				out.Segments = append(out.Segments, s)
			}
		}
		return out, nil
	})
	does(d.env, "Derive", func(in activities.DeriveInput) (out activities.DeriveResult, err error) {
		d.mu.Lock()
		d.running++
		d.most = max(d.most, d.running)
		d.mu.Unlock()
		time.Sleep(time.Millisecond) // of the machine: others begin meanwhile
		d.mu.Lock()
		defer d.mu.Unlock()
		d.running--
		if d.does != nil {
			if err := d.does(in); err != nil {
				return out, err
			}
		}
		if d.damaged[in.Segment] {
			return out, temporal.NewNonRetryableApplicationError("the object is damaged", activities.ErrorDamaged, nil)
		}
		d.derived[unreadable(in.DerivedFrom, in.Segment)]++
		return activities.DeriveResult{Captures: 3, Lines: 2, Failed: 1, Bytes: 10}, nil
	})
	does(d.env, "Views", func(in activities.ViewsInput) (out activities.ViewsResult, err error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.away != nil && d.away(in) {
			return out, errors.New("the database is away")
		}
		if len(in.Segments) == 0 {
			d.viewed = append(d.viewed, in.Crawl)
		}
		for _, s := range in.Segments {
			if d.derived[unreadable(in.DerivedFrom, s)] == 0 && !d.damaged[s] {
				d.t.Errorf("%s is viewed, and was not derived", s)
			}
			d.viewed = append(d.viewed, in.Crawl+"/"+s)
		}
		return activities.ViewsResult{Texts: len(in.Segments)}, nil
	})
	return d
}

// numbered are the names of n segments.
func numbered(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("s-%04d", i))
	}
	return list
}

// once fails unless each segment of each crawl was derived once by each step, but for those that are damaged.
func (d *derivable) once(steps ...string) {
	d.t.Helper()
	want := 0
	for c, list := range d.segments {
		for _, s := range list {
			for _, step := range steps {
				n := d.derived[unreadable(activities.DerivedFrom{Crawl: c, Step: step}, s)]
				if expected := map[bool]int{false: 1, true: 0}[d.damaged[s]]; n != expected {
					d.t.Errorf("%s of %s/%s was derived %d times", step, c, s, n)
				}
				want++
			}
		}
	}
	if len(d.derived) > want {
		d.t.Errorf("%d were derived, of %d", len(d.derived), want)
	}
}

func derivation(crawls ...string) Derivation {
	return Derivation{DerivableInput: activities.DerivableInput{Crawls: crawls, Steps: []string{"text", "other"}}}
}

func (d *derivable) result() (p DeriveProgress) {
	d.t.Helper()
	if err := d.GetWorkflowResult(&p); err != nil {
		d.t.Fatal(err)
	}
	return p
}

// TestDerive: all segments of all crawls are derived by each step, some at a time; one that is damaged is named.
func TestDerive(t *testing.T) {
	t.Parallel()
	d := newDerivable(t, map[string][]string{"a": numbered(2*derivePage + 3), "b": numbered(5), "c": nil})
	d.damaged["s-0001"] = true
	if err := d.run(Derive, derivation("a", "b", "c")); err != nil {
		t.Fatal(err)
	}
	d.once("text", "other")
	p := d.result()
	if want := int64(2 * (2*derivePage + 3 + 5 - 2)); p.State != stateDone || p.Segments != want || p.Captures != 3*want || p.Lines != 2*want || p.Failed != want || p.Bytes != 10*want {
		t.Errorf("%+v", p)
	}
	if len(p.Damaged) != 4 || p.Damaged[0] != "a/s-0001: the object is damaged" || p.DamagedMore != 0 {
		t.Errorf("%q", p.Damaged)
	}
	if d.most > deriveWindow || d.most < 2 {
		t.Errorf("%d at a time", d.most)
	}
	if n := d.count("Derivable"); n != 1 {
		t.Errorf("Derivable was called %d times", n)
	}
	value, err := d.QueryWorkflow(names.QueryStatus)
	var asked DeriveProgress
	if err == nil {
		err = value.Get(&asked)
	}
	if err != nil || asked.Segments != p.Segments || asked.State != stateDone {
		t.Errorf("%+v, %v", asked, err)
	}
}

// TestDeriveContinued: an execution whose history is long continues as new behind what it has done.
func TestDeriveContinued(t *testing.T) {
	t.Parallel()
	d := newDerivable(t, map[string][]string{"a": numbered(derivePage + 1)})
	d.SetContinueAsNewSuggested(true)
	in := derivation("a")
	var next Derivation
	continued(t, d.run(Derive, in), &next)
	s := next.State
	if s == nil || s.After != fmt.Sprintf("s-%04d", derivePage-1) || s.At != 0 || s.Segments != derivePage || len(s.Of) != 2 || next.Crawls[0] != "a" {
		t.Fatalf("%+v", next)
	}
	rest := newDerivable(t, d.segments)
	rest.derived = d.derived
	if err := rest.run(Derive, next); err != nil {
		t.Fatal(err)
	}
	rest.once("text", "other")
	if p := rest.result(); p.Segments != 2*(derivePage+1) || rest.count("Derivable") != 0 {
		t.Errorf("%+v", p)
	}
}

// TestDeriveFollows: segments that come while the crawl runs are derived, those of its end, too; a damaged one is tried once.
func TestDeriveFollows(t *testing.T) {
	t.Parallel()
	d := newDerivable(t, map[string][]string{"a": numbered(3)})
	d.damaged["s-0001"] = true
	asked := 0
	d.runs = func(string) bool {
		asked++
		if asked <= 8 { // of both steps
			d.segments["a"] = numbered(3 + 2*asked)
		}
		return asked < 8
	}
	tries := map[string]int{}
	d.does = func(in activities.DeriveInput) error {
		tries[in.Step+in.Segment]++
		return nil
	}
	in := derivation("a")
	in.Follow = true
	var following DeriveProgress
	d.at(derivePause/2, func() {
		value, err := d.QueryWorkflow(names.QueryStatus)
		if err == nil {
			err = value.Get(&following)
		}
		if err != nil {
			t.Error(err)
		}
	})
	if err := d.run(Derive, in); err != nil {
		t.Fatal(err)
	}
	d.once("text", "other")
	if len(d.segments["a"]) != 19 || tries["texts-0001"] != 1 || following.State != stateFollowing {
		t.Errorf("%d segments, %d tries, %q", len(d.segments["a"]), tries["texts-0001"], following.State)
	}
}

// TestDeriveStops: a stop lets what runs end, and begins nothing more.
func TestDeriveStops(t *testing.T) {
	t.Parallel()
	d := newDerivable(t, map[string][]string{"a": numbered(3)})
	d.runs = func(string) bool { return true }
	in := derivation("a")
	in.Follow = true
	d.at(90*time.Second, func() { d.SignalWorkflow(names.SignalStop, nil) })
	if err := d.run(Derive, in); err != nil {
		t.Fatal(err)
	}
	d.once("text", "other")
	if p := d.result(); p.State != stateStopped || p.Segments != 6 {
		t.Errorf("%+v", p)
	}
	early := newDerivable(t, map[string][]string{"a": numbered(derivePage)})
	n := 0
	early.does = func(activities.DeriveInput) error {
		if n++; n == 3 {
			early.SignalWorkflow(names.SignalStop, nil)
		}
		return nil
	}
	if err := early.run(Derive, derivation("a")); err != nil {
		t.Fatal(err)
	}
	if p := early.result(); p.State != stateStopped || p.Segments < 3 || p.Segments > 3+2*deriveWindow {
		t.Errorf("%+v", p)
	}
}

// TestDeriveFails: what trying again cannot help with ends the workflow.
func TestDeriveFails(t *testing.T) {
	t.Parallel()
	d := newDerivable(t, map[string][]string{"a": numbered(30)})
	d.does = func(in activities.DeriveInput) error {
		if in.Segment == "s-0004" {
			return temporal.NewNonRetryableApplicationError("no such archive", activities.ErrorInput, errors.New("x"))
		}
		return nil
	}
	if err := d.run(Derive, derivation("a")); err == nil || !strings.Contains(err.Error(), "no such archive") {
		t.Errorf("%v", err)
	}
}

// TestManyDamaged: the result and the history stay small, whatever an archive is like.
func TestManyDamaged(t *testing.T) {
	t.Parallel()
	r := &deriveRun{}
	for i := range 3 * maxUnreadable {
		r.damaged(activities.DerivedFrom{Crawl: "a", Step: "text"}, fmt.Sprint(i), "damaged")
	}
	if len(r.Damaged) != maxDamaged || r.DamagedMore != 3*maxUnreadable-maxDamaged || len(r.Unreadable) != maxUnreadable {
		t.Errorf("%d, %d, %d", len(r.Damaged), r.DamagedMore, len(r.Unreadable))
	}
	if text := r.describe(); !strings.Contains(text, "and 2980 more") {
		t.Error(text)
	}
}

// TestDeriveViews: where workers have a database, each segment is added to the views after it was derived, and all of a crawl once, for what an earlier
// execution has derived.
func TestDeriveViews(t *testing.T) {
	t.Parallel()
	d := newDerivable(t, map[string][]string{"a": numbered(derivePage + 3), "b": numbered(2), "c": nil})
	d.views = true
	if err := d.run(Derive, derivation("a", "b", "c")); err != nil {
		t.Fatal(err)
	}
	d.once("text", "other")
	var want []string
	for _, c := range []string{"a", "b", "c"} {
		for _, s := range d.segments[c] {
			want = append(want, c+"/"+s)
		}
		want = append(want, c)
	}
	if p := d.result(); !slices.Equal(d.viewed, want) || p.Viewed != derivePage+5 || len(p.Behind) != 0 {
		t.Errorf("%d of %d, %+v: %q", len(d.viewed), len(want), p, d.viewed)
	}
}

// TestDeriveViewsAway: a database that does not answer keeps nothing from being derived; when it does again, all of the crawl is added.
func TestDeriveViewsAway(t *testing.T) {
	t.Parallel()
	d := newDerivable(t, map[string][]string{"a": numbered(3 * viewsWindow), "b": numbered(1)})
	d.views = true
	passes := 0
	d.runs = func(crawl string) bool {
		if crawl == "a" {
			passes++
		}
		return passes < 6
	}
	d.away = func(in activities.ViewsInput) bool { return in.Crawl == "a" && passes < 4 }
	in := derivation("a", "b")
	in.Follow = true
	var meanwhile DeriveProgress
	d.at(40*time.Second, func() {
		value, err := d.QueryWorkflow(names.QueryStatus)
		if err == nil {
			err = value.Get(&meanwhile)
		}
		if err != nil {
			t.Error(err)
		}
	})
	if err := d.run(Derive, in); err != nil {
		t.Fatal(err)
	}
	d.once("text", "other")
	if p := d.result(); len(p.Behind) != 0 || !slices.Equal(d.viewed, []string{"b/s-0000", "b", "a"}) {
		t.Errorf("%+v: %q", p, d.viewed)
	}
	if len(meanwhile.Behind) != 1 || meanwhile.Behind[0] != "a: the database is away" {
		t.Errorf("%+v", meanwhile)
	}
}
