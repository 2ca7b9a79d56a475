package activities

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/frontier"
)

// TestAnswerer: whichever worker is asked names the one that has a URL; the others do not answer for it, so that nobody takes a URL for unknown
// that is another's. A silent owner is named with what to do.
func TestAnswerer(t *testing.T) {
	s := newSpreadRing(t, "w", "v")
	asked := map[string]int{}
	for i := range 20 {
		host := fmt.Sprintf("h%d.example", i)
		in := AskInput{Crawl: rigCrawl, URL: "http://" + host + "/"}
		owner := s.ownerOf(host)
		asked[owner.Settings.Worker]++
		for name, r := range s.workers {
			if queue, err := call[string](r, r.Answerer, in); err != nil || queue != "muninn/"+owner.Settings.Worker {
				t.Errorf("%s is of %q says %s, %v; want %s", host, queue, name, err, owner.Settings.Worker)
			}
			var said *temporal.ApplicationError
			_, err := call[frontier.Explanation](r, r.Explain, in)
			if elsewhere := errors.As(err, &said) && said.Type() == ErrorElsewhere; elsewhere != (r != owner) || r == owner && err != nil {
				t.Errorf("%s explains %s, which %s has: %v", name, host, owner.Settings.Worker, err)
			}
		}
	}
	if len(asked) != 2 {
		t.Fatalf("all are of one worker: %v", asked)
	}
	w := s.workers["w"]
	if _, err := call[string](w, w.Answerer, AskInput{Crawl: rigCrawl, URL: "foo bar"}); err == nil || !strings.Contains(err.Error(), "is not a URL") {
		t.Error(err)
	}
	if _, err := call[string](w, w.Answerer, AskInput{Crawl: "other", URL: rigSeed}); err == nil || !strings.Contains(err.Error(), "does not know the crawl other") {
		t.Error(err)
	}

	s.state.Lost(time.Now(), "v", "v")
	w.Membership.Take(s.state.View("w"))
	for i := range 20 {
		host := fmt.Sprintf("h%d.example", i)
		queue, err := call[string](w, w.Answerer, AskInput{Crawl: rigCrawl, URL: "http://" + host + "/"})
		if s.ownerOf(host) == w {
			if err != nil || queue != "muninn/w" {
				t.Errorf("%s: %q, %v", host, queue, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), "worker v, which has "+host+", is silent: start it") {
			t.Errorf("%s, whose worker is lost: %q, %v", host, queue, err)
		}
	}
}

// TestAnswererOfABoundCrawl: it is the worker that knows the crawl.
func TestAnswererOfABoundCrawl(t *testing.T) {
	r := newRig(t)
	r.begin("o", nil)
	if queue, err := call[string](r, r.Answerer, AskInput{Crawl: rigCrawl, URL: rigSeed}); err != nil || queue != "muninn/w" {
		t.Errorf("%q, %v", queue, err)
	}
}
