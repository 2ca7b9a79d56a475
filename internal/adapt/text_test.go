package adapt

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// opened parses a page.
func opened(t testing.TB, source string) *xpath.Eval {
	t.Helper()
	root, err := html.Parse(strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	e := xpath.NewEval(root, xpath.DefaultBudget)
	t.Cleanup(e.Free)
	return e
}

// at is the first node that an expression selects.
func at(t testing.TB, e *xpath.Eval, expression string) xpath.Ref {
	t.Helper()
	x, err := xpath.Parse(expression)
	if err != nil {
		t.Fatal(err)
	}
	r, found, err := e.First(x, e.Tree.Root())
	if err != nil || !found {
		t.Fatalf("%s selects nothing (%v)", expression, err)
	}
	return r
}

func TestSameText(t *testing.T) {
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"case", "The RAVEN Flies", "the raven flies", true},
		{"case beyond ASCII", "ÄRGER ÉTÉ Ωmega", "ärger été ωmega", true},
		{"white space", "The raven\n\t  flies ", "The raven flies", true},
		{"no white space", "The raven flies", "Theravenflies", true},
		{"no-break space", "The raven", "The\u00a0raven", true},
		{"punctuation", "“The raven” – flies!", "The raven flies", true},
		{"digits count", "raven 1", "raven 2", false},
		{"order counts within a text", "raven crow", "crow raven", false},
		{"a letter more", "raven", "ravens", false},
		{"another letter", "raven", "raver", false},
		{"a letter twice", "aab", "aaab", false},
		{"no UTF-8", "raven\xff\xfe", "raven", true},
		{"other scripts", "ворон 鸦 غراب", "ВОРОН 鸦, غراب.", true},
		{"a zero before", "0raven", "raven", false},
		{"nothing at all", " .,;– ", "", true},
	}
	for _, test := range tests {
		if got := sumOf(test.a) == sumOf(test.b); got != test.same {
			t.Errorf("%s: %q and %q are the same: %v", test.name, test.a, test.b, got)
		}
	}
	if s := sumOf("Rä v3-n"); s.size != 5 {
		t.Errorf("%d letters, want 5", s.size)
	}
}

// TestHash: the hash of a whole text does not depend on white space, case and the order of its words.
func TestHash(t *testing.T) {
	want := Hash("the raven flew over the hills")
	for text, same := range map[string]bool{
		"The Raven  flew\nover the hills!": true, "over the hills the raven flew": true, "– the: raven, flew; over. “the” hills": true,
		"the raven flew over hills": false, "the raven flew over the hill": false, "the the raven flew over the hills": false, "": false,
	} {
		if got := Hash(text) == want; got != same {
			t.Errorf("%q is the same: %v", text, got)
		}
	}
}

// TestSumsOfParts: the sum of texts does not depend on their grouping and order; the empty text is neutral.
func TestSumsOfParts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		parts := make([]sum, 1+random.IntN(9))
		var whole sum
		for i := range parts {
			parts[i] = sumOf(strings.Repeat(string(rune('a'+random.IntN(26))), random.IntN(5)))
			whole = whole.add(parts[i])
		}
		random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		var halves [2]sum
		for i, p := range parts {
			halves[i%2] = halves[i%2].add(p)
		}
		if halves[1].add(halves[0]) != whole {
			t.Fatal("in another order the sum is another")
		}
	}
	var nothing sum
	if a := sumOf("raven"); nothing.add(a) != a || a.add(nothing) != a || sumOf("") != nothing || sumOf(" – ") != nothing {
		t.Error("nothing adds something")
	}
	// texts that share letters must not meet
	for _, two := range [][2]string{{"ab", "c"}, {"a", "bc"}, {"b", "ac"}, {"c", "ab"}, {"", "abc"}, {"c", "ba"}} {
		if (two != [2]string{"ab", "c"} && two != [2]string{"c", "ab"}) && sumOf(two[0]).add(sumOf(two[1])) == sumOf("ab").add(sumOf("c")) {
			t.Errorf("%q are ab and c", two)
		}
	}
}

// TestMarkupDoesNotMatter: the same texts have the same sum in any markup, as part of a page or alone.
func TestMarkupDoesNotMatter(t *testing.T) {
	want := sumOf("The raven").add(sumOf("flew over")).add(sumOf("the hills at 7:30."))
	for _, source := range []string{
		"<p>The raven<br>flew over<br>the hills at 7:30.</p>",
		"<p>The raven <b>flew over</b> the hills at 7:30.</p>",
		"<div><div>The raven</div><div><p>flew over<!-- not this --></p>the hills at 7:30.</div></div>",
		"<section><i>flew over</i></section><p>THE RAVEN</p><ul><li> the hills\n\nat&nbsp;7&#58;30!</ul>",
		"<p>The raven<script>var not = 'this'</script>flew over <style>.not{}</style>the hills at 7:30.</p>",
	} {
		e := opened(t, source)
		body := at(t, e, "//body")
		got := sumPage(e).sums[body.ID]
		if got != want {
			t.Errorf("%s: %+v, want %+v", source, got, want)
		}
		if alone := sumBelow(e.Tree, body); got != alone {
			t.Errorf("%s, alone: %+v, want %+v", source, alone, got)
		}
	}
}

// TestRead: each element has the sum of the texts below it, and is found by it; so are attributes.
func TestRead(t *testing.T) {
	long := strings.Repeat("raven ", MaxAttribute/6+1)
	e := opened(t, `<title>Birds</title><div class="ravens" id="ravens" style="ravens"><time datetime="2026-11-21T08:00">21 Nov</time>
<a href="/ravens/7" title="`+long+`">x</a><p>The <b>raven</b></p><script>crow</script></div>`)
	all := sumPage(e)
	for id := range int32(e.Tree.Len()) {
		if n := e.Tree.At(id); n.Type == html.ElementNode && n.Data != "script" {
			if r := (xpath.Ref{ID: id, Attr: -1}); all.sums[id] != sumBelow(e.Tree, r) || all.of(r) != all.sums[id] {
				t.Errorf("%s: %+v, alone %+v", n.Data, all.sums[id], sumBelow(e.Tree, r))
			}
		}
	}
	tests := []struct {
		text  string
		found int
	}{
		{"the", 0}, {"raven", 1}, {"birds", 2}, {"21 nov", 1}, {"2026 11 21 T 08 00", 1}, {"ravens7", 1}, {"crow", 0}, {"x", 0},
		{"ravens", 0}, // names of the template say nothing
		{long, 0},
	}
	for _, test := range tests {
		if got := len(all.byHash[sumOf(test.text).hash]); got != test.found {
			t.Errorf("%.40q is found %d times, want %d", test.text, got, test.found)
		}
	}
	if r := all.byHash[sumOf("/ravens/7").hash]; len(r) != 1 || r[0].Attr != 0 || all.of(r[0]) != sumOf("/ravens/7") {
		t.Errorf("the attribute is %+v", r)
	}
}

func TestReadNothing(t *testing.T) {
	for _, source := range []string{"", "<!-- x -->", "<script>x</script>", "<frameset>"} {
		e := opened(t, source)
		if all := sumPage(e); all.sums[0] != (sum{}) || len(all.byHash) != 0 {
			t.Errorf("%q: %+v", source, all.sums[0])
		}
	}
}

// TestSumByLetter: the sum over words equals the sum letter by letter.
func TestSumByLetter(t *testing.T) {
	slow := func(text string) (s sum) {
		for _, r := range text {
			if r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
				s.hash = s.hash*hashBase + uint64(unicode.ToLower(r)) + 1
				s.size++
			}
		}
		return s
	}
	for _, text := range []string{"", "a", "ab", "abc", "a b", "A-B c", "ä", "aä", "äa", "aäb", "abä", "9", "19:30", "Łódź 2026", "…x", "日本a語", strings.Repeat("Raven, 7! ", 99) + "ß"} {
		want := slow(text)
		if want.size > 0 {
			want = mixHash(want)
		}
		if got := sumOf(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}
