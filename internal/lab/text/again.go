package text

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"
)

// again is a second reading of some pages of the gold, by somebody who had not seen the first one.
//
//go:embed again.jsonl
var again []byte

// Again reads the second reading of the shipped gold.
func Again() ([]Gold, error) { return Read(bytes.NewReader(again), "again.jsonl") }

// Both are the pages that have a second reading, and that reading as a system: how far two people agree is what a system can reach at most.
func Both(pages, second []*Page) ([]*Page, System) {
	byFile := map[string]*Page{}
	for _, p := range second {
		byFile[p.File] = p
	}
	both := slices.DeleteFunc(slices.Clone(pages), func(p *Page) bool { return byFile[p.File] == nil })
	return both, System{Name: "second reading", Body: true, Title: true, Author: true, Date: true, Extract: func(p *Page) (a Answer, err error) {
		q := byFile[p.File]
		if q == nil {
			return a, fmt.Errorf("%s has no second reading", p.File)
		}
		a.Body, a.Title, a.Author = strings.Join(q.Right, " "), agreed(p.Title, q.Title), agreed(p.Author, q.Author)
		if q.Date != nil && *q.Date != "" {
			a.Published, err = time.Parse(time.DateOnly, *q.Date)
		}
		return a, err
	}}
}

// agreed is the value of the second list that the first one has, too; otherwise its first one.
func agreed(first, second []string) string {
	for _, s := range second {
		if slices.Contains(first, s) {
			return s
		}
	}
	if len(second) == 0 {
		return ""
	}
	return second[0]
}
