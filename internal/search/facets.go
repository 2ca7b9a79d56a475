package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/search/query"
)

// Facet is a fact by which answers are counted.
type Facet string

// The facets.
const (
	Domain    Facet = "domain"    // pay-level domain
	Year      Facet = "year"      // of the capture, UTC
	Month     Facet = "month"     // 2025-03
	App       Facet = "app"       // web application
	Level     Facet = "level"     // of the page in its application
	Type      Facet = "type"      // of the web object, "page" of a capture
	Lang      Facet = "lang"      // language
	Relevance Facet = "relevance" // lower end of a band of the document score: 0, 0.2, 0.4, 0.6 or 0.8
)

// Facets lists all facets.
var Facets = []Facet{Domain, Year, Month, App, Level, Type, Lang, Relevance}

// Count is a value with the number of documents that have it.
type Count struct {
	Value string
	N     int
}

// Counts are the values of a facet, the commonest first. Documents without a value do not count.
type Counts struct {
	Values []Count
	Others int // documents whose value is not listed
}

// bands is the number of bands of the document score.
const bands = 5

// Band is the band of a document score; "" if there is none.
func Band(score float64) string {
	if score < 0 || math.IsNaN(score) {
		return ""
	}
	return strconv.FormatFloat(float64(min(int(score*bands), bands-1))/bands, 'g', -1, 64)
}

// MonthOf is the month of a date in UTC; "" of none.
func MonthOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01")
}

// Narrow is the part of a query that limits it to a value of a facet.
func (f Facet) Narrow(value string) (query.Node, error) {
	parts := map[Facet]string{Domain: "site:", Year: "date:", Month: "date:", App: "app:", Level: "level:", Type: "type:", Lang: "lang:"}
	text := parts[f] + `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
	if f == Relevance {
		low, err := strconv.ParseFloat(value, 64)
		if err != nil || Band(low) != value {
			return nil, fmt.Errorf("there is no band %q of relevance: it is 0, 0.2, 0.4, 0.6 or 0.8", value)
		}
		text = "score:>=" + value
		if low+1.5/bands < 1 { // the highest band has 1
			text += " score:<" + Band(low+1.5/bands)
		}
	} else if parts[f] == "" {
		return nil, fmt.Errorf("there is no facet %q: use one of %v", f, Facets)
	}
	q, err := query.Parse(text)
	return q.Root, err
}

// Tally counts the values of documents. Domain is counted by itself, and the others together: there are few combinations of them, so that
// an index counts one key of a document in place of seven.
type Tally struct {
	domains map[string]int
	keys    map[string]int
}

// NewTally makes an empty tally.
func NewTally() *Tally { return &Tally{map[string]int{}, map[string]int{}} }

// keySeparator stands between the values of a key. It is in none of them.
const keySeparator = "\x1f"

// KeyOf joins the values of all facets of a document but its domain.
func KeyOf(f *query.Facts) string {
	values := []string{MonthOf(f.Date), f.Value(query.App), f.Value(query.Level), f.Value(query.Type), f.Value(query.Lang), Band(f.Score)}
	for i, v := range values {
		values[i] = strings.ReplaceAll(v, keySeparator, " ")
	}
	return strings.Join(values, keySeparator)
}

// AddDomain counts documents of a domain.
func (t *Tally) AddDomain(domain string, n int) { t.domains[domain] += n }

// AddKey counts documents with a key.
func (t *Tally) AddKey(key string, n int) { t.keys[key] += n }

// Add counts a document.
func (t *Tally) Add(f *query.Facts) {
	t.AddDomain(f.Site(), 1)
	t.AddKey(KeyOf(f), 1)
}

// Fill puts into an answer what its options ask for.
func (t *Tally) Fill(a *Answer, o Options) {
	counts := map[Facet]map[string]int{Domain: t.domains}
	for _, f := range Facets[1:] {
		counts[f] = map[string]int{}
	}
	for key, n := range t.keys {
		values := strings.Split(key, keySeparator)
		for i, f := range []Facet{Month, App, Level, Type, Lang, Relevance} {
			counts[f][values[i]] += n
		}
		if month := values[0]; month != "" {
			counts[Year][month[:4]] += n
		}
	}
	if o.Histogram {
		a.Months = sorted(counts[Month], func(x, y Count) int { return cmp.Compare(x.Value, y.Value) })
	}
	if !o.Facets {
		return
	}
	a.Facets = map[Facet]Counts{}
	for _, f := range Facets {
		list := sorted(counts[f], func(x, y Count) int {
			return cmp.Or(cmp.Compare(y.N, x.N), cmp.Compare(x.Value, y.Value))
		})
		c := Counts{Values: list}
		if len(list) > o.Values {
			for _, other := range list[o.Values:] {
				c.Others += other.N
			}
			c.Values = list[:o.Values]
		}
		a.Facets[f] = c
	}
}

// sorted are the counts of values that are not empty.
func sorted(counts map[string]int, order func(x, y Count) int) []Count {
	list := make([]Count, 0, len(counts))
	for value, n := range counts {
		if value != "" {
			list = append(list, Count{value, n})
		}
	}
	slices.SortFunc(list, order)
	return list
}
