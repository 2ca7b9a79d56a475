package activities

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
)

// harm does something to the files of an archive whose names have a part.
func harm(t *testing.T, dir, part string, with func(file string) error) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(file, part) {
			return err
		}
		n++
		return with(file)
	})
	if err != nil || n == 0 {
		t.Fatalf("%d files of %s: %v", n, part, err)
	}
}

func overwrite(file string) error {
	raw, err := os.ReadFile(file)
	for i := range raw {
		raw[i] ^= 0x5a
	}
	return errors.Join(err, os.WriteFile(file, raw, 0o600))
}

func cutOff(file string) error { return os.Truncate(file, 10) }

// TestDamagedSegment: a segment that a lost worker or one at work has left, and that no attempt can read, is passed over in the third attempt, and the progress
// of the crawl names what is damaged. Before, the batch or the crawl that waited for it did so without end.
func TestDamagedSegment(t *testing.T) {
	for name, c := range map[string]struct {
		part string
		with func(string) error
		lost bool // the worker is: it does not deliver the links itself
	}{
		"the links are damaged":                           {".links.zst", overwrite, false},
		"the links are gone":                              {".links.zst", os.Remove, false},
		"the manifest is cut off, and the worker is lost": {"/segments/", cutOff, true},
		"the links are gone, and the worker is lost":      {".links.zst", os.Remove, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpreadRing(t, "v", "w")
			from := s.ownerOf("a.example")
			in := from.linking()
			to := s.undelivered(from, in).To
			other := s.workers[to[0].Owner]
			harm(t, s.dir, c.part, c.with)
			try := func() (int, error) {
				if !c.lost {
					out, err := call[DeliverResult](other, other.Deliver, to[0].DeliverInput)
					return len(out.Delivered), err
				}
				other.Client = &pagedList{pages: [][]string{{names.BatchID(in.Crawl, in.Batch)}}}
				out, err := call[LostResult](other, other.TakeOver, LostInput{Crawl: in.Crawl, Holder: Holder{Worker: from.Settings.Worker}})
				return len(out.Taken), err
			}
			for n := 1; n < damagedTries; n++ {
				if _, err := try(); err == nil {
					t.Errorf("attempt %d passes over it", n)
				}
			}
			done, err := try()
			other.must(err)
			progress, err := other.Frontier.Crawl(rigCrawl).Progress()
			other.must(err)
			if done < len(to[0].Partitions) || len(progress.Damaged) != 1 || !strings.Contains(progress.Damaged[0], c.part) {
				t.Errorf("%d partitions, damaged: %q", done, progress.Damaged)
			}
		})
	}
}

// TestDamagedCounts: the pages of a lost worker are counted but for those of segments that cannot be read.
func TestDamagedCounts(t *testing.T) {
	s := newSpreadRing(t, "v", "w")
	began := time.Now()
	from := s.ownerOf("a.example")
	from.linking()
	other := s.workers["v"]
	if from == other {
		other = s.workers["w"]
	}
	harm(t, s.dir, ".cdxj", overwrite)
	for n := 1; ; n++ {
		sum, err := call[frontier.Totals](other, other.LostTotals, LostTotalsInput{Crawl: rigCrawl, Holder: Holder{Worker: from.Settings.Worker}, Started: began, Run: 1})
		if n < damagedTries && err != nil {
			continue
		}
		progress, errProgress := other.Frontier.Crawl(rigCrawl).Progress()
		if n != damagedTries || errors.Join(err, errProgress) != nil || sum.Pages != 0 || len(progress.Damaged) != 1 {
			t.Errorf("attempt %d: %+v, %v, damaged: %q", n, sum, err, progress.Damaged)
		}
		return
	}
}

// TestDamagedCommit: a batch whose spool is lost, and whose segment no attempt can read, is committed in the third attempt with what can be read; the other
// URLs go back. The progress of the crawl names what is damaged.
func TestDamagedCommit(t *testing.T) {
	for name, c := range map[string]struct {
		part  string
		with  func(string) error
		state string // of the page
	}{
		"the links are damaged":       {".links.zst", overwrite, "done"},
		"the links are gone":          {".links.zst", os.Remove, "done"},
		"the index is damaged":        {".cdxj", overwrite, "waiting"},
		"the manifest is cut off":     {"/segments/", cutOff, "waiting"},
		"the manifest is overwritten": {"/segments/", overwrite, "waiting"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.begin("one", nil)
			in := r.batch()
			r.open(in, linking)
			r.must(r.do(r.Process, in))
			r.must(r.Spool.Batch(in.Crawl, in.Batch).Remove())
			harm(t, r.dir, c.part, c.with)
			if open, err := call[OpenResult](r, r.Open, in); err != nil || !open.Archived {
				t.Fatalf("%+v, %v", open, err)
			}
			for n := 1; n < damagedTries; n++ {
				if err := r.do(r.Commit, in); err == nil {
					t.Errorf("attempt %d passes over it", n)
				}
			}
			r.must(r.do(r.Commit, in))
			progress, err := r.Frontier.Crawl(rigCrawl).Progress()
			r.must(err)
			if len(progress.Damaged) != 1 || !strings.Contains(progress.Damaged[0], c.part) || !strings.Contains(progress.Damaged[0], lostOutcomes) {
				t.Errorf("damaged: %q", progress.Damaged)
			}
			if state := r.states()[rigSeed]; state != c.state || len(r.Frontier.Crawl(rigCrawl).Batch(in.Batch).Claims()) > 0 {
				t.Errorf("the page is %s", state)
			}
		})
	}
}
