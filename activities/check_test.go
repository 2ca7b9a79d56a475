package activities

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/spool"
)

// The names in the input of every activity are checked: an input type without a check would always be refused.
func TestInputsAreChecked(t *testing.T) {
	steps := reflect.TypeFor[*Activities]()
	for i := range steps.NumMethod() {
		m := steps.Method(i)
		for j := 1; j < m.Type.NumIn(); j++ {
			in := m.Type.In(j)
			if in == reflect.TypeFor[context.Context]() {
				continue
			}
			err := checkInput(reflect.Zero(in).Interface())
			if err == nil || strings.Contains(err.Error(), "is not known") {
				t.Errorf("%s takes %s: %v", m.Name, in, err)
			}
		}
	}
}

func TestCheckInput(t *testing.T) {
	claim := ClaimRef{ID: "example.org-1", PLD: "example.org", IP: "192.0.2.1"}
	good := BatchInput{Crawl: "ravens", Batch: "example.org-17", Claims: []ClaimRef{claim}}
	for _, batch := range []string{"example.org-17", "192.0.2.1-1", "[2001:db8::1]-9", "xn--bcher-kva.example-1732252525123", "a_b!c.example-1", "..-1", "example.org-17@w.0", "[2001:db8::1]-9@worker-1.eu.12"} {
		in := good
		in.Batch = batch
		if err := checkInput(in); err != nil {
			t.Errorf("%q: %v", batch, err)
		}
	}
	for _, batch := range []string{"a-1@../w.1", "a-1@..1", "a-1@w", "a-1@w.1/..", "a-1@w w.1", "a-1@-w.1", "a-1@" + strings.Repeat("w", 65) + ".1"} {
		in := good
		in.Batch = batch
		if checkInput(in) == nil {
			t.Errorf("batch %q is taken", batch)
		}
	}
	for _, batch := range []string{"", ".", "..", "b", "-1", "a/b-1", "../../x-1", `a\b-1`, "a-1/..", "a-", "a-1x", "a\x00-1", "a\n-1", "a-1\n", strings.Repeat("a", 300) + "-1"} {
		in := good
		in.Batch = batch
		if checkInput(in) == nil {
			t.Errorf("batch %q is taken", batch)
		}
		in = good
		in.Claims = []ClaimRef{{ID: batch, PLD: "a", IP: "192.0.2.1"}}
		if checkInput(in) == nil {
			t.Errorf("claim %q is taken", batch)
		}
		grants := []politeness.Grant{{Lease: batch, IP: "192.0.2.1"}}
		if checkInput(StartInput{Crawl: "ravens", Grants: grants}) == nil || checkInput(LeaseInput{good, grants}) == nil {
			t.Errorf("lease %q is taken", batch)
		}
	}
	for _, name := range []string{"", ".", "..", "../x", "a/b", "-a", "a b", strings.Repeat("a", crawl.MaxName+1), "a\x00"} {
		d := crawl.DefaultDefinition()
		d.Name, d.Seeds = name, []crawl.Seed{{URL: "https://example.org/"}}
		for _, in := range []any{
			name, ConfigureInput{Definition: d}, BeginInput{Definition: d}, PhaseInput{Crawl: name}, ClaimInput{Crawl: name}, StartInput{Crawl: name},
			BatchInput{Crawl: name, Batch: "a-1"}, SubmitInput{Crawl: name}, EndInput{Crawl: name}, AskInput{Crawl: name},
		} {
			if checkInput(in) == nil {
				t.Errorf("crawl %q is taken in %T", name, in)
			}
		}
	}
	if checkInput(BatchInput{Crawl: "c", Batch: "a-1", Claims: []ClaimRef{{ID: "a-1", IP: "localhost"}}}) == nil {
		t.Error("an address that is none is taken")
	}
}

// A batch that is named after the folder above removes no files: the activity does not run.
func TestHostileBatch(t *testing.T) {
	a := claimable(t)
	var err error
	if a.Spool, err = spool.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	other := a.Spool.Batch("c", "a.example-1")
	if err := other.Write("state", 1); err != nil {
		t.Fatal(err)
	}
	for _, step := range []any{a.Open, a.GiveBack, a.Commit, a.FetchTargets, a.Process} {
		env := newEnv(a)
		for _, batch := range []string{"..", ".", "../..", ""} {
			_, err := env.ExecuteActivity(step, BatchInput{Crawl: "c", Batch: batch})
			var refused *temporal.ApplicationError
			if !errors.As(err, &refused) || refused.Type() != ErrorInput || !refused.NonRetryable() {
				t.Errorf("batch %q: %v", batch, err)
			}
		}
	}
	if _, err := os.Stat(other.Dir()); err != nil {
		t.Errorf("the working files of another batch are gone: %v", err)
	}
}
