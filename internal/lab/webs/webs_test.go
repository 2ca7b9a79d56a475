package webs

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/recorded"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/scattered"
)

func TestSyntheticForms(t *testing.T) {
	two := open(t, "webworld:2")
	if two.Name != "webworld" || len(two.Pages) < 2*100 || len(two.Pages) > 2*110 {
		t.Fatalf("%s: %d pages of two sites", two.Name, len(two.Pages))
	}
	if first := open(t, "webworld:2:1"); !reflect.DeepEqual(first, two) {
		t.Error("the seed is not 1, if none is named")
	}
	other := open(t, "webworld:2:7")
	if reflect.DeepEqual(other.Pages, two.Pages) {
		t.Error("another seed makes the same pages")
	}
	if !reflect.DeepEqual(open(t, "webworld:2:7"), other) {
		t.Error("the same seed makes other pages")
	}
	if sites := groups(open(t, "webworld")); sites != defaultSites {
		t.Errorf("%d sites, want %d", sites, defaultSites)
	}
	if sites := groups(open(t, "webworld:5:3")); sites != 5 {
		t.Errorf("%d sites, want 5", sites)
	}
}

func open(t *testing.T, where string) *recorded.Web {
	t.Helper()
	w, err := Open(where)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// page finds a page of a web.
func page(t *testing.T, w *recorded.Web, url string) recorded.Page {
	t.Helper()
	at, known := w.At(url)
	if !known {
		t.Fatalf("%s is not in the web", url)
	}
	return w.Pages[at]
}

// refused opens a web that cannot be read; the error must contain all words.
func refused(t *testing.T, where string, words ...string) {
	t.Helper()
	_, err := Open(where)
	if err == nil {
		t.Errorf("%s is read", where)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in: %v", word, err)
		}
	}
}

func groups(w *recorded.Web) int {
	known := map[string]bool{}
	for i := range w.Pages {
		known[w.Pages[i].Group] = true
	}
	return len(known)
}

func TestSyntheticFaults(t *testing.T) {
	for _, form := range []string{"webworld:", "webworld:0", "webworld:-1", "webworld:x", "webworld:2:", "webworld:2:x", "webworld:2:-1", "webworld:2:1:1", "webworld:2.5"} {
		refused(t, form, form, "webworld:SITES:SEED")
	}
	refused(t, "forum:0", "forum:0", "forum:BOARDS:SEED")
	refused(t, "community:0", "community:0", "community:BOARDS:SEED")
	refused(t, "traps:x", "traps:x", "traps:HOSTS:SEED")
	refused(t, "webworlds", "webworlds", "no such file") // which is the name of a folder
}

// TestWorld: all pages of a world that answer are recorded with their answers and labels.
func TestWorld(t *testing.T) {
	for name, world := range map[string]*webworld.World{
		"scattered": scattered.New(webworld.Options{Seed: 3}, 3),
		"demo":      webworld.NewDemo(webworld.Options{Seed: 3}), // with redirects, lost pages, duplicates and traps
	} {
		t.Run(name, func(t *testing.T) {
			w, err := World(world)
			if err != nil {
				t.Fatal(err)
			}
			relevant, redirects, lost := 0, 0, 0
			pages := world.Pages()
			for _, truth := range pages {
				p := page(t, w, known(t, truth.URL))
				if truth.Status != p.Status || truth.Host != p.Group || (truth.Location != "") != (p.Location != "") {
					t.Errorf("%s: %d %q %q, want %+v", p.URL, p.Status, p.Group, p.Location, truth)
				}
				if truth.Relevant != (p.Label == Relevant) || !truth.Relevant && p.Label != "" {
					t.Errorf("%s has the label %q", p.URL, p.Label)
				}
				_, _, body, _ := world.Answer(truth.URL)
				if !bytes.Equal(body, p.Body) || !bytes.HasPrefix(p.Head, []byte("HTTP/1.1 ")) || !bytes.HasSuffix(p.Head, []byte("\r\n\r\n")) {
					t.Errorf("%s: %q with %d bytes, not %d", p.URL, p.Head, len(p.Body), len(body))
				}
				if p.Label == Relevant {
					relevant++
				}
				if p.Location != "" {
					redirects++
				}
				if p.Status == 404 {
					lost++
				}
			}
			if len(w.Pages) != len(pages) || len(pages) < 100 || relevant == 0 || relevant > len(pages)*2/3 {
				t.Errorf("%d pages, %d of them relevant, of a world of %d", len(w.Pages), relevant, len(pages))
			}
			if name == "demo" && (redirects == 0 || lost == 0) {
				t.Errorf("%d redirects, %d lost pages", redirects, lost)
			}
			seeds := world.Seeds()
			if len(seeds) == 0 || len(w.Seeds) != len(seeds) || len(w.Topics) != 1 || w.Topics[0] != Relevant || w.Edges != nil {
				t.Errorf("seeds %v, topics %q", w.Seeds, w.Topics)
			}
			for i, s := range w.Seeds {
				if w.Pages[s].URL != known(t, seeds[i]) {
					t.Errorf("seed %d is %s, want %s", i, w.Pages[s].URL, seeds[i])
				}
			}
		})
	}
}

// known is a URL as the crawler knows it; those of a world that is not served name port 80.
func known(t *testing.T, raw string) string {
	t.Helper()
	url, ok := recorded.Canonical(raw)
	if !ok {
		t.Fatalf("%s is not a URL", raw)
	}
	return url
}

// TestWorldServed: a world that is served is recorded as it is.
func TestWorldServed(t *testing.T) {
	world := scattered.New(webworld.Options{Seed: 3}, 1)
	if err := world.Start(t.Context()); err != nil {
		t.Skipf("worlds cannot be served here: %v", err)
	}
	defer func() { _ = world.Close() }()
	w, err := World(world)
	if err != nil {
		t.Fatal(err)
	}
	page(t, w, world.Seeds()[0])
	if len(w.Pages) != len(world.Pages()) {
		t.Errorf("%d pages of %d", len(w.Pages), len(world.Pages()))
	}
}

// TestForum: a synthetic forum is the same for a seed; its boards are topics of some dozens of pages, all pages are reached from its first, and its URLs have no words.
func TestForum(t *testing.T) {
	w, err := Open("forum:3:5")
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Open("forum:3:5")
	other, _ := Open("forum:3:6")
	if len(w.Pages) != len(again.Pages) || string(w.Pages[7].Body) != string(again.Pages[7].Body) || string(w.Pages[7].Body) == string(other.Pages[7].Body) {
		t.Error("the pages do not depend on the seed alone")
	}
	labels := map[string]int{}
	for _, p := range w.Pages {
		labels[p.Label]++
		if rest := strings.TrimPrefix(p.URL, forumHost); strings.Trim(rest, "/0123456789ftu") != "" {
			t.Errorf("%s has words", p.URL)
		}
	}
	if len(w.Topics) != 3 || len(w.Seeds) != 1 {
		t.Errorf("topics %v, seeds %v", w.Topics, w.Seeds)
	}
	for _, topic := range w.Topics {
		if labels[topic] < boardThreads {
			t.Errorf("%s has %d pages", topic, labels[topic])
		}
	}
}

// TestTraps: each relevant host has ten irrelevant ones, each with a calendar, and the topic is the pages of the former.
func TestTraps(t *testing.T) {
	w, err := Open("traps:2:1")
	if err != nil {
		t.Fatal(err)
	}
	relevant, days := map[string]bool{}, 0
	for _, p := range w.Pages {
		if p.Label == Relevant {
			relevant[p.Group] = true
		}
		if strings.Contains(p.URL, "/day/") {
			days++
		}
	}
	if len(relevant) != 2 || groups(w) != 2*(1+trapHosts) || days != 2*trapHosts*trapDays || len(w.Seeds) != 1 {
		t.Errorf("%d relevant hosts of %d, %d days, seeds %v", len(relevant), groups(w), days, w.Seeds)
	}
}

// TestCommunity: the boards of the synthetic forum are the topics, each with pages that can be reached; users and forms have no label. The seed decides all of it.
func TestCommunity(t *testing.T) {
	profiles, forms := 0, 0
	for _, seed := range []string{"1", "2", "3", "4"} {
		w := open(t, "community:3:"+seed)
		if !reflect.DeepEqual(w, open(t, "community:3:"+seed)) {
			t.Fatal("the same seed makes other pages")
		}
		labels := map[string]int{}
		for i := range w.Pages {
			p := &w.Pages[i]
			labels[p.Label]++
			if user := strings.Contains(p.URL, "/member.php"); (user || strings.Contains(p.URL, "/posting.php")) && p.Label != "" {
				t.Errorf("%s has the label %q", p.URL, p.Label)
			} else if user && bytes.Contains(p.Body, []byte("viewtopic.php")) {
				profiles++
			}
			if strings.Contains(p.URL, "/posting.php") {
				forms++
			}
		}
		if len(w.Topics) != 3 || len(w.Seeds) != 1 || labels[""] < 100 {
			t.Errorf("topics %v, seeds %v, labels %v", w.Topics, w.Seeds, labels)
		}
		for _, topic := range w.Topics {
			if labels[topic] < boardThreads {
				t.Errorf("%s has %d pages", topic, labels[topic])
			}
		}
	}
	if profiles == 0 || forms == 0 {
		t.Errorf("of four forums none has users with threads (%d pages), or none has forms (%d)", profiles, forms)
	}
}

// TestDemo: the web of the demo has the bound of its calendar, relevant pages on several hosts and what its seeds lead to; another seed makes other pages.
func TestDemo(t *testing.T) {
	w := open(t, "demo:30:1")
	relevant, trapped := map[string]bool{}, 0
	for _, p := range w.Pages {
		if p.Label == Relevant {
			relevant[p.Group] = true
		}
		if p.Group == "calendar.example" {
			trapped++
		}
	}
	if len(w.Seeds) != 3 || trapped < 25 || trapped > 31 || len(relevant) < 5 {
		t.Errorf("%d seeds, %d pages of the calendar, relevant hosts %v", len(w.Seeds), trapped, relevant)
	}
	if reflect.DeepEqual(open(t, "demo:30:2").Pages, w.Pages) {
		t.Error("another seed makes the same pages")
	}
}
