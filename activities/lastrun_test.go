package activities

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/mocks"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestNextRun: no run gets the number of an earlier one, whether the archive, the frontier or Temporal knows it; one that was cut off is continued.
func TestNextRun(t *testing.T) {
	for name, c := range map[string]struct {
		known []LastRun
		want  uint32
	}{
		"nobody knows the crawl": {[]LastRun{{}}, 1},
		"nobody is asked":        {nil, 1},
		"ended":                  {[]LastRun{{Run: 2, Archived: 2}}, 3},
		"cut off":                {[]LastRun{{Run: 2, Active: true, Archived: 2}}, 2},
		"cut off before its definition was archived": {[]LastRun{{Run: 2, Active: true, Archived: 1}}, 2},
		"the frontier is lost":                       {[]LastRun{{Archived: 4}}, 5},
		"the archive is another":                     {[]LastRun{{Run: 3}}, 4},
		"the archive has later runs of others":       {[]LastRun{{Run: 3, Active: true, Archived: 7}}, 8},
		"one worker is new":                          {[]LastRun{{Run: 3, Active: true, Archived: 3}, {Archived: 3}}, 3},
		"one worker has ended it":                    {[]LastRun{{Run: 3, Active: true, Archived: 3}, {Run: 3, Archived: 3}}, 4},
		"one worker was left behind":                 {[]LastRun{{Run: 1, Active: true, Archived: 3}, {Run: 3, Archived: 3}}, 4},
		"the one left behind has ended":              {[]LastRun{{Run: 1, Archived: 3}, {Run: 3, Active: true, Archived: 3}}, 3},
		"a silent worker has ended it":               {[]LastRun{{Run: 3, Active: true, Archived: 3, Kept: 3, Ended: true}}, 4},
		"no worker has ended it":                     {[]LastRun{{Run: 3, Active: true, Archived: 3, Kept: 3}}, 3},
		"a silent worker has begun a later one":      {[]LastRun{{Run: 2, Active: true, Kept: 3}}, 4},
		"silent workers know it, the archive is new": {[]LastRun{{Kept: 3}}, 4},
		"it was begun after what was ended":          {[]LastRun{{Run: 3, Active: true, Kept: 2, Ended: true}}, 3},
	} {
		if got := NextRun(c.known); got != c.want {
			t.Errorf("%s: run %d, want %d", name, got, c.want)
		}
	}
}

// TestEndedElsewhere: a worker that was lost when the others ended the run is the only one that answers when the crawl begins again. It begins the next run, in which the
// others can take part, and does not continue the one that they have ended. The same if the archive of the crawl is another by then.
func TestEndedElsewhere(t *testing.T) {
	c := newCluster(t, "u", "w")
	c.quiet()
	u, w := c.rigs["u"], c.rigs["w"]
	spread := func(d *crawl.Definition) { d.Spread = true }
	elsewhere := func(d *crawl.Definition) { d.Spread, d.Archive.Where = true, t.TempDir() }
	next := func(r *clusterRig, edit func(*crawl.Definition)) uint32 {
		last, err := call[LastRun](r.rig, r.LastRun, BeginInput{Definition: r.definition(edit), Owner: "owner 2", Holder: r.holder()})
		r.must(err)
		return NextRun([]LastRun{last})
	}
	for _, r := range []*clusterRig{u, w} {
		r.beginByParts(1, spread)
		gone := &mocks.Client{}
		gone.On("DescribeWorkflowExecution", mock.Anything, mock.Anything, mock.Anything).Return(nil, serviceerror.NewNotFound("gone"))
		r.Client = gone
	}
	if run := next(w, spread); run != 1 {
		t.Errorf("a run that nobody has ended is not continued: run %d", run)
	}
	_, err := call[EndResult](u.rig, u.End, EndInput{Crawl: rigCrawl, Owner: "owner 1", NoReport: true})
	u.must(err)
	run := next(w, spread)
	if other := next(w, elsewhere); run != 2 || other != 2 {
		t.Errorf("run %d, with another archive %d, want 2", run, other)
	}
	for _, r := range []*clusterRig{w, u} {
		_, err := call[BeginResult](r.rig, r.Begin, BeginInput{Definition: r.definition(spread), Owner: "owner 2", Holder: r.holder(), Run: run, Parts: true})
		if err != nil {
			t.Errorf("%s cannot take part: %v", r.name, err)
		}
	}
	if late := next(c.join("v"), elsewhere); late != 3 {
		t.Errorf("a new worker, alone with a new archive, begins run %d", late)
	}
}

// TestElapsedOf: of what workers say of a run that is continued, one clock that was set meanwhile does not count; nor do those that do not know it.
func TestElapsedOf(t *testing.T) {
	says := func(hours ...time.Duration) (list []LastRun) {
		for _, h := range hours {
			list = append(list, LastRun{Run: 3, Active: true, Elapsed: h * time.Hour})
		}
		return append(list, LastRun{Run: 2, Active: true, Elapsed: 900 * time.Hour}, LastRun{Run: 3, Elapsed: 900 * time.Hour}, LastRun{Archived: 3})
	}
	for _, c := range []struct {
		known []LastRun
		want  time.Duration
	}{{nil, 0}, {says(), 0}, {says(5), 5}, {says(5, 48), 5}, {says(48, 5, 6), 6}, {says(0, 5, 6), 5}} {
		if got := ElapsedOf(3, c.known); got != c.want*time.Hour {
			t.Errorf("%+v: %s, want %d h", c.known, got, c.want)
		}
	}
}

// TestRunsContinue: a crawl that an earlier version began, with keys without a worker in the archive and runs that the frontier counted, is
// continued by this one: with its frontier, without it, and where the frontier is behind the archive. Nothing that is archived changes.
func TestRunsContinue(t *testing.T) {
	for name, c := range map[string]struct {
		lost  bool // the frontier
		ended bool // the run before
		begin func(r *rig)
		want  uint32
	}{
		"the next run":                     {ended: true, want: 2},
		"the run was cut off":              {want: 1},
		"the frontier is lost":             {ended: true, lost: true, want: 2},
		"cut off, and the frontier lost":   {lost: true, want: 2},
		"others have archived runs before": {ended: true, want: 6, begin: func(r *rig) { r.put("definitions/run-5-0123abcd.json") }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.asBefore(c.ended)
			if c.begin != nil {
				c.begin(r)
			}
			before := r.files()
			if c.lost {
				lost := newRig(t)
				lost.dir, lost.Archives.Default = r.dir, r.dir
				r = lost
			}
			gone := &mocks.Client{}
			gone.On("DescribeWorkflowExecution", mock.Anything, mock.Anything, mock.Anything).Return(nil, serviceerror.NewNotFound("gone"))
			r.Client = gone

			begin := BeginInput{Definition: r.definition(onTopic), Owner: "crawl/c@two", Holder: r.holder()}
			last, err := call[LastRun](r, r.LastRun, begin)
			r.must(err)
			begin.Run = NextRun([]LastRun{last})
			for range 2 { // it may be tried again
				begun, err := call[BeginResult](r, r.Begin, begin)
				r.must(err)
				if begun.Run != c.want {
					t.Errorf("run %d, want %d; known %+v", begun.Run, c.want, last)
				}
			}
			if memory, err := r.Frontier.Crawl(rigCrawl).Learning().Memory(); err != nil || len(memory) == 0 {
				t.Errorf("%d bytes of what was learned are known, %v", len(memory), err)
			}
			in := r.batch()
			r.open(in, linking)
			r.must(r.do(r.Process, in))
			r.must(r.do(r.Commit, in))
			r.must(r.do(r.Learn, rigCrawl))
			r.must(r.do(r.End, EndInput{Crawl: rigCrawl, Owner: "crawl/c@two"}))
			after := r.files()
			for key, text := range before {
				if after[key] != text {
					t.Errorf("%s was changed or is gone", key)
				}
			}
			if report := r.check(r.dir); report.Pages[rigSeed] == 0 || report.Segments < 2 {
				t.Errorf("%+v", report)
			}
		})
	}
}

// TestOldRun: a run that has ended, or that others have overtaken, is not begun again.
func TestOldRun(t *testing.T) {
	r := newRig(t)
	begin := func(owner string, run uint32) error {
		return r.do(r.Begin, BeginInput{Definition: r.definition(nil), Owner: owner, Holder: r.holder(), Run: run})
	}
	r.must(begin("one", 1))
	r.must(r.Frontier.Crawl(rigCrawl).End("one"))
	for _, c := range []struct {
		owner string
		run   uint32
		fails bool
	}{{"two", 1, true}, {"three", 4, false}, {"three", 4, false}, {"four", 3, true}} {
		err := begin(c.owner, c.run)
		var app *temporal.ApplicationError
		if refused := errors.As(err, &app) && app.NonRetryable(); refused != c.fails || err != nil && !c.fails {
			t.Errorf("run %d of %s: %v", c.run, c.owner, err)
		}
		if c.run == 4 {
			r.must(r.Frontier.Crawl(rigCrawl).End(c.owner))
		}
	}
	if s, err := r.Frontier.Crawl(rigCrawl).Status(); err != nil || s.Run != 4 {
		t.Errorf("run %d, %v", s.Run, err)
	}
}

// asBefore has an earlier version archive the first run: no name in the archive has a worker.
func (r *rig) asBefore(ended bool) {
	r.t.Helper()
	worker := r.Settings
	r.begin("crawl/c@one", onTopic)
	r.Settings.Worker, r.Settings.Instance = "", ""
	in := r.batch()
	r.Settings.Worker = worker.Worker // which the manifest says
	r.open(in, linking)
	r.must(r.do(r.Process, in))
	r.must(r.do(r.Commit, in))
	r.must(r.do(r.Learn, rigCrawl))
	if ended {
		r.must(r.do(r.End, EndInput{Crawl: rigCrawl, Owner: "crawl/c@one"}))
	}
	r.Settings = worker
	for path := range r.files() {
		if dir, name := filepath.Split(path); strings.Contains(name, "@") {
			r.must(os.Rename(path, dir+strings.Replace(name, "@"+worker.Worker, "", 1)))
		}
	}
}

// put puts a small object of the crawl into the archive.
func (r *rig) put(key string) {
	r.t.Helper()
	store, err := r.Archives.Open(context.Background(), "")
	r.must(err)
	r.must(store.PutIfAbsent(context.Background(), rigCrawl+"/"+key, []byte("{}")))
}

// files reads all files of the archive.
func (r *rig) files() map[string]string {
	r.t.Helper()
	files := map[string]string{}
	r.must(filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	}))
	return files
}
