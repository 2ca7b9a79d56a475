package pipeline

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestBegin: a run begins once, is taken over from an owner that is gone, and is not begun on a definition that this machine cannot
// serve.
func TestBegin(t *testing.T) {
	gone := func(context.Context, string) bool { return true }
	for name, c := range map[string]struct {
		o     Opening
		edit  func(*crawl.Definition)
		run   uint32
		fails func(error) bool
	}{
		"the owner continues":      {o: Opening{Owner: "o"}, run: 1},
		"another owner":            {o: Opening{Owner: "p"}, fails: func(err error) bool { return errors.Is(err, frontier.ErrBusy) }},
		"another, the former gone": {o: Opening{Owner: "p", Abandoned: gone}, run: 1},
		"a later run":              {o: Opening{Owner: "p", Abandoned: gone, Run: 3}, run: 3},
		"no thesaurus": {o: Opening{Owner: "o"}, edit: func(d *crawl.Definition) {
			d.Order = crawl.Order{Strategy: crawl.StrategySynonyms, Thesaurus: "/missing"}
		}, fails: isInput},
		"a seed that is none": {o: Opening{Owner: "o"}, edit: func(d *crawl.Definition) { d.Seeds = []crawl.Seed{{URL: "x:"}} }, fails: isInput},
	} {
		r := newRig(t, nil)
		plan, err := r.Frontier.Crawl("c").Plan()
		r.must(err)
		c.o.Definition = plan.Definition
		if c.edit != nil {
			c.edit(&c.o.Definition)
		}
		var opened []uint32
		c.o.Opened = func(_ context.Context, _ archive.Store, plan frontier.Plan) error {
			opened = append(opened, plan.Run)
			return nil
		}
		run, seeds, err := r.Begin(t.Context(), c.o)
		if c.fails != nil {
			if !c.fails(err) || opened != nil {
				t.Errorf("%s: %v; opened %v", name, err, opened)
			}
			continue
		}
		again, _, errAgain := r.Begin(t.Context(), c.o)
		if err != nil || errAgain != nil || run != c.run || again != run || seeds != len(plan.Definition.Seeds) || !slices.Equal(opened, []uint32{run, run}) {
			t.Errorf("%s: run %d of %d seeds, %v; again %d, %v; opened %v", name, run, seeds, err, again, errAgain, opened)
		}
	}
}

func isInput(err error) bool {
	var input *crawl.InputError
	return errors.As(err, &input)
}

// TestPairs: each exchange comes with its own page, and one of which nothing was understood without any.
func TestPairs(t *testing.T) {
	for name, c := range map[string]struct {
		entries []int
		want    []int // of the exchanges 0, 1 and 2; −1: none
	}{
		"no page":   {nil, []int{-1, -1, -1}},
		"all":       {[]int{0, 1, 2}, []int{0, 1, 2}},
		"a gap":     {[]int{0, 2}, []int{0, -1, 2}},
		"the last":  {[]int{2}, []int{-1, -1, 2}},
		"the first": {[]int{0}, []int{0, -1, -1}},
	} {
		b := &JudgedBatch{}
		for _, at := range c.entries {
			b.Pages = append(b.Pages, Judged{Entry: at})
		}
		var got []int
		exchanges := []string{"a", "b", "c"}
		for x, p := range Pairs(exchanges, b) {
			if x != &exchanges[len(got)] {
				t.Errorf("%s: exchange %q comes at %d", name, *x, len(got))
			}
			at := -1
			if p != nil {
				at = p.Entry
			}
			got = append(got, at)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}
