package adaptation

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/aah"
)

func varied(t *testing.T, page string, n uint64) string {
	t.Helper()
	out, err := vary([]byte(page), 7, n)
	if err != nil {
		t.Fatal(err)
	}
	again, err := vary([]byte(page), 7, n)
	if err != nil || !bytes.Equal(out, again) {
		t.Fatalf("the same number makes another page: %v", err)
	}
	return string(out)
}

// TestVary: pages that are made of one have its template, other texts, and fewer of what repeats; short texts and dates stay.
func TestVary(t *testing.T) {
	const text = `the ravens of the wall said on 12.11.2026 that crows sell acorns`
	page := `<title>Of the ravens and the jays and the crows of the wall</title><ul class="menu"><li>Home</li><li>All</li></ul><script>var a = "the ravens and the jays and the crows of the wall"</script>` +
		strings.Repeat(`<div class="post"><b class="who">Hugin</b><p>`+text+`</p></div>`, 10)
	seen := map[string]bool{}
	fewest := 10
	for n := range uint64(8) {
		out := varied(t, page, n)
		seen[out] = true
		for _, want := range []string{"<li>Home</li><li>All</li>", "Of the ravens and the jays and the crows of the wall</title>", `"the ravens and the jays and the crows of the wall"</script>`} {
			if !strings.Contains(out, want) {
				t.Errorf("%d has no %q", n, want)
			}
		}
		posts := strings.Split(out, `<div class="post"><b class="who">Hugin</b><p>`)[1:]
		fewest = min(fewest, len(posts))
		if len(posts) == 0 {
			t.Fatalf("%d: %s", n, out)
		}
		for _, post := range posts {
			said, _, _ := strings.Cut(post, "</p>")
			words := strings.Fields(said)
			if strings.TrimSpace(said) == text || len(words) < leastVaried/2 || !slices.Contains(words, "12.11.2026") {
				t.Errorf("%d: %q", n, said)
			}
			for _, w := range words {
				if !strings.Contains(text, w) {
					t.Errorf("%d: %q", n, w)
				}
			}
		}
	}
	if len(seen) != 8 || fewest == 10 {
		t.Errorf("%d different pages, with %d posts and more", len(seen), fewest)
	}
}

// TestMeasureMade: of one page of a site so many are made, and measured as new ones alone.
func TestMeasureMade(t *testing.T) {
	dir, list := saved(t, Least)
	rows, err := Measure(dir, list, Options{Base: small(t), Limits: aah.DefaultLimits(), Seed: 1, Made: 7, Strengths: []string{"mild", "heavy"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Strength != "mild" || rows[1].Strength != "heavy" {
		t.Fatalf("%+v", rows)
	}
	for _, r := range rows {
		if r.Recrawl.Pages != 0 || r.Beside.Pages != 0 || r.Without.Pages != 7 || r.New.Pages != 7 || r.New.Truth < 7 || r.New.Truth != r.Without.Truth || len(r.Sites) != 1 {
			t.Errorf("%+v", r)
		}
	}
	if a, b := withNumber("http://a.test/t/1", 0), withNumber("http://a.test/t?x=1", 3); a != "http://a.test/t/1" || b != "http://a.test/t?x=1&made=3" {
		t.Errorf("%s, %s", a, b)
	}
}
