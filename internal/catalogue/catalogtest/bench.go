package catalogtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
)

// Lines is the variable that says how many captures a benchmark puts into a catalogue; a million without it.
const Lines = "MUNINN_CATALOGUE_LINES"

const (
	benchSegment = 100 // captures of a segment, as of a batch
	benchAtOnce  = 200 // segments that are added at once, as by build
	benchSites   = 20_000
)

// Benchmark measures how fast captures are added and how fast queries are answered. Captures are of 20,000 sites, a segment has those of one; each URL has five on
// average.
func Benchmark(b *testing.B, c catalogue.Catalogue) {
	n := 1_000_000
	if text := os.Getenv(Lines); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatalf("%s: %v", Lines, err)
		}
	}
	urls := n / 5
	began := time.Now()
	for segment := 0; segment*benchSegment < n; {
		var list []catalogue.Segment
		for ; len(list) < benchAtOnce && segment*benchSegment < n; segment++ {
			list = append(list, benchOf(segment, urls))
		}
		add(b, c, list...)
	}
	rate := float64(n) / time.Since(began).Seconds()
	b.Logf("%d captures are added at %.0f a second", n, rate)
	middle := epoch.Add(180 * 24 * time.Hour)
	for _, kind := range []struct {
		name  string
		query func(r *rand.Rand) catalogue.Query
	}{
		{"exact", func(r *rand.Rand) catalogue.Query { return catalogue.Query{URL: benchURL(r.IntN(urls), urls)} }},
		{"closest", func(r *rand.Rand) catalogue.Query {
			return catalogue.Query{URL: benchURL(r.IntN(urls), urls), Sort: catalogue.Closest, Closest: middle, Limit: 1}
		}},
		{"missing", func(r *rand.Rand) catalogue.Query {
			return catalogue.Query{URL: benchURL(r.IntN(urls), urls) + "-none"}
		}},
		{"host-100", func(r *rand.Rand) catalogue.Query {
			return catalogue.Query{URL: benchURL(r.IntN(urls), urls), Match: catalogue.Host, Limit: 100}
		}},
		{"domain-100", func(r *rand.Rand) catalogue.Query {
			return catalogue.Query{URL: benchURL(r.IntN(urls), urls), Match: catalogue.Domain, Limit: 100}
		}},
		{"digest", func(r *rand.Rand) catalogue.Query {
			return catalogue.Query{Digest: benchDigest(r.IntN(urls)), Limit: 1}
		}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, uint64(b.N)))
			var took []time.Duration
			for b.Loop() {
				q, found := kind.query(random), 0
				began := time.Now()
				if err := c.Query(b.Context(), q, func(catalogue.Entry) error { found++; return nil }); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
				if found == 0 && kind.name != "missing" {
					b.Fatalf("%+v has no answer", q)
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds()), "p95-µs")
			b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-µs")
			b.ReportMetric(rate, "added/s")
		})
	}
}

// benchURL is a URL of so many.
func benchURL(i, urls int) string {
	sites := min(benchSites, urls/20)
	return fmt.Sprintf("https://www.site-%05d.example/forum/viewtopic.php?f=%d&t=%d", i%sites, i%7, i/sites)
}

func benchDigest(i int) string { return fmt.Sprintf("sha1:%032d", i) }

// benchOf is a segment: neighbours among the URLs of one site.
func benchOf(number, urls int) catalogue.Segment {
	sites := min(benchSites, urls/20)
	s := segmentOf(fmt.Sprintf("site-%d@worker-1.1", number))
	perSite := urls / sites
	for k := range benchSegment {
		i := (number%sites + sites*((number/sites*benchSegment+k)%perSite)) % urls
		s.Entries = append(s.Entries, catalogue.Entry{Title: "A thread about ravens, page " + strconv.Itoa(i), Language: "en", Indexed: archive.Indexed{
			URL: benchURL(i, urls), Date: epoch.Add(time.Duration(number) * 10 * time.Minute).Add(time.Duration(k) * time.Second), Status: 200, Digest: benchDigest(i), MIME: "text/html",
			Length: 12345, Offset: int64(k) * 20_000, Score: 0.25, Application: "phpbb",
		}})
	}
	return s
}
