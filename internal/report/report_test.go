package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

var start = time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC)

// indexed is a page that was archived at a minute after the start.
func indexed(minute int, url string, score float64) archive.Indexed {
	return archive.Indexed{
		URL: url, Date: start.Add(time.Duration(minute) * time.Minute), Status: 200, MIME: "text/html", Length: 1000, Score: score,
	}
}

func collect(threshold float64, list ...archive.Indexed) *Collector {
	c := NewCollector(threshold)
	for _, i := range list {
		c.Add(i)
	}
	return c
}

// scored is a crawl of pages with these scores, a minute apart.
func scored(scores ...float64) (list []archive.Indexed) {
	for i, s := range scores {
		list = append(list, indexed(i, fmt.Sprintf("http://a.example/%d", i), s))
	}
	return list
}

func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-6 })
}

func check(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if !near(got, want) {
		t.Errorf("%s: %.4v, want %.4v", what, got, want)
	}
}

// The last tenth of ten pages is one page. Two pages have no score, one has exactly the threshold.
func TestCurves(t *testing.T) {
	k := collect(0.5, scored(0.9, 0.1, -1, 0.6, 0.4, 0.5, -1, 0.2, 0.8, 0.7)...).curves()
	check(t, "pages", k.pages, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	check(t, "harvest so far", k.harvest, []float64{1, 1. / 2, 1. / 2, 2. / 3, 2. / 4, 3. / 5, 3. / 5, 3. / 6, 4. / 7, 5. / 8})
	check(t, "harvest of the last tenth, from the second page on", k.lately[1:], []float64{0, 0, 1, 0, 1, 1, 0, 1, 1})
	check(t, "mean of the last tenth, from the second page on", k.mean[1:], []float64{0.1, 0.1, 0.6, 0.4, 0.5, 0.5, 0.2, 0.8, 0.7})
	check(t, "relevant", k.relevant, []float64{1, 1, 1, 2, 2, 3, 3, 3, 4, 5})
	check(t, "hours", k.hours, []float64{0, 1. / 60, 2. / 60, 3. / 60, 4. / 60, 5. / 60, 6. / 60, 7. / 60, 8. / 60, 9. / 60})
}

// Pages without a score, such as images, do not lower the harvest.
func TestCurvesOfScoredPages(t *testing.T) {
	k := collect(0.5, scored(-1, -1, 0.9, -1, -1, -1, -1, -1, -1, -1, 0.8)...).curves()
	check(t, "from", k.from, []float64{3, 4, 5, 6, 7, 8, 9, 10, 11})
	check(t, "harvest of the last tenth", k.lately, slices.Repeat([]float64{1}, 9))
	check(t, "mean", k.mean, append(slices.Repeat([]float64{0.9}, 8), 0.8))
	if k := collect(0.5, scored(-1, -1)...).curves(); len(k.from)+len(k.mean) != 0 || len(k.pages) != 2 {
		t.Errorf("nothing was scored: %+v", k)
	}
}

// The first page belongs to the last tenth as long as there are not more pages.
func TestCurvesBegin(t *testing.T) {
	k := collect(0.5, scored(0.9)...).curves()
	check(t, "of one page, harvest of the last tenth", k.lately, []float64{1})
	check(t, "of one page, mean of the last tenth", k.mean, []float64{0.9})
	scores := slices.Repeat([]float64{0}, 30) // of which a tenth is three pages
	scores[0] = 0.9
	k = collect(0.5, scored(scores...)...).curves()
	check(t, "harvest of the last tenth", k.lately[:5], []float64{1, 1. / 2, 1. / 3, 0, 0})
	check(t, "mean of the last tenth", k.mean[:5], []float64{0.9, 0.45, 0.3, 0, 0})
}

// A long crawl is drawn with as many points as fit; the last point is over all pages, and its last tenth is a tenth of all pages.
func TestCurvesOfManyPages(t *testing.T) {
	for _, n := range []int{binsOf - 1, binsOf, binsOf + 1, 2 * binsOf, 1999} {
		scores := make([]float64, n)
		for i := range scores { // the last tenth is relevant, nothing else is
			if i >= n-n/10 {
				scores[i] = 1
			}
		}
		k := collect(0.5, scored(scores...)...).curves()
		last := len(k.pages) - 1
		if len(k.pages) != min(n, binsOf) || k.pages[last] != float64(n) || !slices.IsSorted(k.pages) || !slices.IsSorted(k.hours) {
			t.Fatalf("%d pages: %d points, the last at %v", n, len(k.pages), k.pages[last])
		}
		for _, list := range [][]float64{k.harvest, k.lately, k.mean, k.hours, k.relevant} {
			if len(list) != len(k.pages) {
				t.Errorf("%d pages: a curve has %d points of %d", n, len(list), len(k.pages))
			}
		}
		if k.lately[last] != 1 || k.mean[last] != 1 || k.relevant[last] != float64(n/10) || math.Abs(k.harvest[last]-float64(n/10)/float64(n)) > 1e-9 {
			t.Errorf("%d pages end with %v lately, mean %v, %v relevant, %v so far", n, k.lately[last], k.mean[last], k.relevant[last], k.harvest[last])
		}
		if half := last / 2; k.lately[half] != 0 || k.harvest[half] != 0 {
			t.Errorf("%d pages: %v lately, %v so far in the middle", n, k.lately[half], k.harvest[half])
		}
	}
}

// The curves and the tables agree: a page with exactly the threshold is relevant, one with a digit of the index less is not.
func TestThreshold(t *testing.T) {
	for _, threshold := range []float64{0.05, 0.1, 0.3, 0.55, 0.7, 0.9, 1} {
		c := collect(threshold, scored(threshold, threshold-1e-4)...)
		if k, r := c.curves(), rowsOf(c.hosts)[0]; k.relevant[1] != 1 || r.Relevant != 1 || r.Scored != 2 {
			t.Errorf("threshold %v: %v relevant by the curve, %d by the table", threshold, k.relevant, r.Relevant)
		}
	}
}

func TestRows(t *testing.T) {
	of := func(i archive.Indexed, edit func(*archive.Indexed)) archive.Indexed {
		edit(&i)
		return i
	}
	blog := func(i *archive.Indexed) { i.Application = "wordpress" }
	c := collect(0.5,
		of(indexed(0, "http://a.example/1", 0.5), blog), of(indexed(1, "http://a.example/2", 0.25), blog), indexed(2, "http://a.example/3", 0.75),
		indexed(3, "http://a.example/picture", -1), indexed(4, "http://a.example/robots.txt", -1),
		of(indexed(5, "http://a.example/gone", -1), func(i *archive.Indexed) { i.Status = 404 }),
		of(indexed(6, "http://a.example/broken", -1), func(i *archive.Indexed) { i.Status, i.Length = 503, 9 }),
		of(indexed(7, "http://b.example:8080/1", 0.75), func(i *archive.Indexed) { i.Revisit, i.MIME, i.Length = true, "warc/revisit", 300 }),
		of(indexed(8, "http://b.example:8080/2", -1), func(i *archive.Indexed) { i.Revisit, i.MIME, i.Status, i.Length = true, "warc/revisit", 0, 200 }),
		of(indexed(9, "http://c.example/", 0), blog))
	want := []Row{
		{Name: "a.example", Pages: 4, Scored: 3, Relevant: 2, Errors: 2, Bytes: 5009, sum: 1.5},
		{Name: "b.example:8080", Pages: 2, Scored: 1, Relevant: 1, Bytes: 500, sum: 0.75},
		{Name: "c.example", Pages: 1, Scored: 1, Bytes: 1000},
	}
	if got := rowsOf(c.hosts); !reflect.DeepEqual(got, want) {
		t.Errorf("hosts\n%+v, want\n%+v", got, want)
	}
	want = []Row{
		{Name: "none recognised", Pages: 2, Scored: 2, Relevant: 2, Bytes: 1300, sum: 1.5},
		{Name: "wordpress", Pages: 3, Scored: 3, Relevant: 1, Bytes: 3000, sum: 0.75},
	}
	if got := rowsOf(c.applications); !reflect.DeepEqual(got, want) {
		t.Errorf("applications\n%+v, want\n%+v", got, want)
	}
	if r := rowsOf(c.hosts)[0]; math.Abs(r.Harvest()-2./3) > 1e-9 || r.Mean() != 0.5 {
		t.Errorf("harvest %v and mean %v, want 2/3 and 0.5", r.Harvest(), r.Mean())
	}
	if r := (Row{Pages: 3}); r.Harvest() != 0 || r.Mean() != 0 {
		t.Errorf("harvest %v and mean %v of nothing", r.Harvest(), r.Mean())
	}
	if len(c.pages) != 7 || c.revisits != 2 || c.bytes != 6509 {
		t.Errorf("%d pages, %d revisits, %d bytes", len(c.pages), c.revisits, c.bytes)
	}
	if got, want := c.statusRows(), [][2]string{{"200", "6"}, {"not modified", "1"}, {"404", "1"}, {"503", "1"}}; !slices.Equal(got, want) {
		t.Errorf("statuses %v, want %v", got, want)
	}
}

// Redirects are responses, but not pages: the hosts together have as many pages as the crawl.
func TestRedirectsAreNoPages(t *testing.T) {
	moved := indexed(1, "http://a.example/old", -1)
	moved.Status = 301
	c := collect(0.5, indexed(0, "http://a.example/", 0.5), moved)
	if r := rowsOf(c.hosts)[0]; r.Pages != 1 || r.Errors != 0 || len(c.pages) != 1 {
		t.Errorf("the host has %d pages and %d errors, the crawl %d pages", r.Pages, r.Errors, len(c.pages))
	}
}

// Only the robots.txt of a host itself is not one of its pages.
func TestRobotsFilesAreNoPages(t *testing.T) {
	c := collect(0.5, indexed(0, "http://a.example/robots.txt", -1), indexed(1, "http://a.example/about/robots.txt", 0.5), indexed(2, "http://a.example/?file=/robots.txt", 0.5))
	if len(c.pages) != 2 {
		t.Errorf("%d pages, want 2", len(c.pages))
	}
}

// The rows are sorted by relevant pages, then by pages, then by name; only the first of many are shown.
func TestRowsAreOrdered(t *testing.T) {
	var list []archive.Indexed
	add := func(host string, scores ...float64) {
		for _, s := range scores {
			list = append(list, indexed(len(list), fmt.Sprintf("http://%s/%d", host, len(list)), s))
		}
	}
	add("large.example", 0, 0, 0, 0)
	add("best.example", 1, 1)
	add("good-and-large.example", 1, 0, 0)
	add("good.example", 1)
	add("b.example", 0)
	add("a.example", 0)
	var names []string
	for _, r := range rowsOf(collect(0.5, list...).hosts) {
		names = append(names, strings.TrimSuffix(r.Name, ".example"))
	}
	if want := []string{"best", "good-and-large", "good", "large", "a", "b"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	for i := range 2 * maxRows {
		add(fmt.Sprintf("h%02d.example", i), 0)
	}
	c := collect(0.5, list...)
	if rows := rowsOf(c.hosts); len(rows) != maxRows || rows[maxRows-1].Name != fmt.Sprintf("h%02d.example", maxRows-7) || len(c.hosts) != 2*maxRows+6 {
		t.Errorf("%d rows, the last of %s; %d hosts", len(rows), rows[len(rows)-1].Name, len(c.hosts))
	}
}

func TestSizes(t *testing.T) {
	var list []archive.Indexed
	for i, n := range []int64{1000, 1024, 1500, 2047, 2048, 8192, 8193} {
		page := indexed(i, fmt.Sprintf("http://a.example/%d", i), 0)
		page.Length = n
		list = append(list, page)
	}
	c := collect(0.5, list...)
	names, values := sizeBars(c.sizes[:])
	if !slices.Equal(names, []string{"512", "1K", "2K", "4K", "8K"}) || !slices.Equal(values, []float64{1, 3, 1, 0, 2}) {
		t.Errorf("%q: %v", names, values)
	}
	names, values = sizeBars(make([]int, 40))
	if len(names)+len(values) > 0 {
		t.Errorf("of nothing: %q, %v", names, values)
	}
	for n, want := range map[int64]string{-5: "1", 0: "1", 1: "1", 1 << 20: "1M", 1 << 39: "512G", math.MaxInt64: "512G"} {
		page := indexed(0, "http://a.example/", 0)
		page.Length = n
		c := collect(0.5, page)
		if names, values := sizeBars(c.sizes[:]); !slices.Equal(names, []string{want}) || !slices.Equal(values, []float64{1}) {
			t.Errorf("%d bytes: %q, %v", n, names, values)
		}
	}
}

func TestStatuses(t *testing.T) {
	var list []archive.Indexed
	for status, n := range map[int]int{200: 3, 404: 5, 301: 2, 500: 2, 0: 1} {
		for range n {
			i := indexed(len(list), fmt.Sprintf("http://a.example/%d", len(list)), -1)
			i.Status = status
			list = append(list, i)
		}
	}
	want := [][2]string{{"404", "5"}, {"200", "3"}, {"301", "2"}, {"500", "2"}, {"not modified", "1"}}
	if got := collect(0.5, list...).statusRows(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The best pages come first, pages with the same score by URL; their number is bounded.
func TestTop(t *testing.T) {
	list := scored(0.2, 0.9, -1, 0.5, 0.9, 0.5, 0)
	want := []Top{
		{"http://a.example/1", 0.9}, {"http://a.example/4", 0.9}, {"http://a.example/3", 0.5}, {"http://a.example/5", 0.5}, {"http://a.example/0", 0.2}, {"http://a.example/6", 0},
	}
	if got := collect(0.5, list...).top; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	var many []archive.Indexed
	for i := range 3 * maxTop {
		many = append(many, indexed(i, fmt.Sprintf("http://a.example/%d", i), float64(i)/1000))
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(many), func(i, j int) { many[i], many[j] = many[j], many[i] })
	got := collect(0.5, many...).top
	if len(got) != maxTop || got[0] != (Top{"http://a.example/149", 0.149}) || got[maxTop-1] != (Top{"http://a.example/100", 0.1}) ||
		!slices.IsSortedFunc(got, func(a, b Top) int { return -int(1e6*a.Score) + int(1e6*b.Score) }) {
		t.Errorf("%d pages: %v", len(got), got)
	}
}

// A page that was archived again, with the same score, is one page.
func TestTopWithoutDoubles(t *testing.T) {
	list := scored(0.5, 0.5, 0.5)
	if got := collect(0.5, append(list, list...)...).top; len(got) != 3 {
		t.Errorf("%v", got)
	}
}

// A page whose score has changed from run to run is one page with its best score, in any order of runs.
func TestTopOfChangedPages(t *testing.T) {
	const url = "http://a.example/changing"
	want := []Top{{url, 0.9}, {"http://a.example/0", 0.5}}
	for _, scores := range [][]float64{{0.9, 0.3}, {0.3, 0.9}, {0.8, 0.9}, {0.9, 0.8}} {
		list := scored(0.5)
		for i, s := range scores {
			list = append(list, indexed(10+i, url, s))
		}
		if got := collect(0.5, list...).top; !slices.Equal(got, want) {
			t.Errorf("scores %v give %v, want %v", scores, got, want)
		}
	}
}

// NaN and negative scores count as no score.
func TestNoScores(t *testing.T) {
	c := collect(0.5, scored(math.NaN(), -1, -0.5)...)
	if r := rowsOf(c.hosts)[0]; r.Scored != 0 || r.Pages != 3 || len(c.top) > 0 || len(c.applications) > 0 {
		t.Errorf("%+v, %v", r, c.top)
	}
}
