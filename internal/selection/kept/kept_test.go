package kept

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/selection"
)

// pages are candidates by the ends of their URLs.
type pages []string

func (p pages) Each(_ context.Context, fn func(selection.Facts) error) error {
	for _, name := range p {
		f := selection.Facts{URL: "https://a.example/" + name, Host: "a.example", Site: "a.example", Crawl: "c", Date: time.Unix(1_700_000_000, 0), Text: name, Language: "en", Score: -1}
		if err := fn(f); err != nil {
			return err
		}
	}
	return nil
}

// TestByQuery: what matches is kept; a fault of the query is that of the language.
func TestByQuery(t *testing.T) {
	c, sum, err := ByQuery(t.Context(), pages{"raven", "crow", "ravens"}, "raven")
	if err != nil || sum != (Sum{Kept: 2, Dropped: 1}) || c.Kept() != 2 || c.Decided() != 3 || c.Name() != "query raven" {
		t.Errorf("%+v, %v", sum, err)
	}
	var fault *query.Error
	if _, _, err := ByQuery(t.Context(), pages{}, "score:x"); !errors.As(err, &fault) {
		t.Error(err)
	}
}

// TestBySelection: each decision says who or which rule it is by, and why; what is open is dropped.
func TestBySelection(t *testing.T) {
	store, err := archive.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, err := selection.Create(t.Context(), store, "ravens", "ann", "", selection.Creation{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return "https://a.example/" + name }
	for _, e := range []selection.Entry{
		{Rules: []selection.Rule{{Query: "raven OR crow", Verdict: selection.Keep}}, Why: "birds"},
		{Rules: []selection.Rule{{Query: "swan", Verdict: selection.Ask}}},
		{Decisions: []selection.Decision{{URL: at("crow"), Verdict: selection.Drop}}, Who: "bob", Why: "seen"},
		{Accepted: []selection.Proposal{{URL: at("jay"), Verdict: selection.Keep, Certainty: 0.97}}},
	} {
		if e.Who == "" {
			e.Who = "ann"
		}
		if _, err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	state, err := l.State(0, selection.ParseQuery)
	if err != nil {
		t.Fatal(err)
	}
	list := pages{"raven", "crow", "swan", "jay", "soup"}
	_, sum, err := BySelection(t.Context(), list, state)
	if err != nil || sum != (Sum{Kept: 2, Dropped: 1, Open: 2}) {
		t.Errorf("%+v, %v", sum, err)
	}
	got := map[string]string{}
	_ = list.Each(t.Context(), func(f selection.Facts) error {
		r, step := state.Reason(&f)
		d := decisionOf(r, &step)
		got[f.Text] = fmt.Sprintf("%t|%s|%s", d.Keep, d.By, d.Why)
		return nil
	})
	for name, want := range map[string]string{
		"raven": "true|rule 2 of ann: keep raven OR crow|birds",
		"crow":  "false|bob|seen",
		"swan":  "false|rule 3 of ann: ask swan|it is open, and counts as dropped",
		"jay":   "true|proposal that ann accepted|certainty 0.97",
		"soup":  "false|nobody|it is open, and counts as dropped",
	} {
		if got[name] != want {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
	if _, err := l.Append(t.Context(), selection.Entry{Who: "bob", Decisions: []selection.Decision{{Group: "host:a.example", Verdict: selection.Keep}}}); err != nil {
		t.Fatal(err)
	}
	if state, err = l.State(0, selection.ParseQuery); err != nil {
		t.Fatal(err)
	}
	r, step := state.Reason(&selection.Facts{URL: at("soup"), Host: "a.example"})
	if d := decisionOf(r, &step); !d.Keep || d.By != "bob" || d.Why != "host:a.example" {
		t.Errorf("%+v", d)
	}
}
