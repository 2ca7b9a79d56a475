package thesaurus

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The same thesaurus in three formats: raven and crow are birds, birds are animals, and the fox is in no relation. The
// relation of birds and animals is a property of the animals (narrower).
var formatted = map[string]string{
	"birds.ttl": `@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix b: <http://b.example/> .
@base <http://b.example/> .
# a comment
<scheme> a skos:ConceptScheme .
b:raven a skos:Concept ; skos:inScheme <scheme> ;
	skos:prefLabel "Raven"@en , "Rabe"@de , "corvus" ;
	skos:altLabel "corbie"@en-GB, "Corvus corax"@en, "Kolkrabe"@de ;
	skos:hiddenLabel "ravn"@en ; skos:notation "R1" ; skos:definition "black"@en ;
	skos:broader b:bird .
b:crow skos:prefLabel "crow"@en, "Krähe"@de ; skos:broader b:bird ; skos:related b:raven .
b:bird skos:prefLabel "bird"@en, "Vogel"@de ; skos:altLabel "fowl"@en, "bird"@en .
b:animal skos:prefLabel "animal"@en, "Tier"@de ; skos:narrower b:bird .
b:fox skos:prefLabel "fox"@en, "Fuchs"@de ; <http://other.example/broader> b:animal ; <http://other.example/prefLabel> "reynard"@en .
`,
	"birds.nt": lines(
		`raven prefLabel "Raven"@en`, `raven prefLabel "Rabe"@de`, `raven prefLabel "corvus"`, `raven altLabel "corbie"@en-GB`,
		`raven altLabel "Corvus corax"@en`, `raven altLabel "Kolkrabe"@de`, `raven hiddenLabel "ravn"@en`, `raven notation "R1"`,
		`raven definition "black"@en`, `raven broader bird`, `crow prefLabel "crow"@en`, `crow prefLabel "Kr\u00E4he"@de`, `crow broader bird`,
		`crow related raven`, `bird prefLabel "bird"@en`, `bird prefLabel "Vogel"@de`, `bird altLabel "fowl"@en`, `bird altLabel "bird"@en`,
		`animal prefLabel "animal"@en`, `animal prefLabel "Tier"@de`, `animal narrower bird`, `fox prefLabel "fox"@en`, `fox prefLabel "Fuchs"@de`,
	) + `<http://b.example/fox> <http://other.example/broader> <http://b.example/animal> .
<http://b.example/fox> <http://other.example/prefLabel> "reynard"@en .
`,
	"birds.rdf": `<?xml version="1.0" encoding="UTF-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="http://www.w3.org/2004/02/skos/core#" xmlns:o="http://other.example/">
  <skos:ConceptScheme rdf:about="http://b.example/scheme"/>
  <skos:Concept rdf:about="http://b.example/raven">
    <skos:prefLabel xml:lang="en">Raven</skos:prefLabel>
    <skos:prefLabel xml:lang="de">Rabe</skos:prefLabel>
    <skos:prefLabel>corvus</skos:prefLabel>
    <skos:altLabel xml:lang="en-GB">corbie</skos:altLabel>
    <skos:altLabel xml:lang="en">Corvus corax</skos:altLabel>
    <skos:altLabel xml:lang="de">Kolkrabe</skos:altLabel>
    <skos:hiddenLabel xml:lang="en">ravn</skos:hiddenLabel>
    <skos:definition xml:lang="en">black</skos:definition>
    <skos:broader rdf:resource="http://b.example/bird"/>
  </skos:Concept>
  <rdf:Description rdf:about="http://b.example/crow">
    <rdf:type rdf:resource="http://www.w3.org/2004/02/skos/core#Concept"/>
    <skos:prefLabel xml:lang="en">crow</skos:prefLabel>
    <skos:prefLabel xml:lang="de">Krähe</skos:prefLabel>
    <skos:broader rdf:resource="http://b.example/bird"/>
    <skos:related rdf:resource="http://b.example/raven"/>
  </rdf:Description>
  <skos:Concept rdf:about="http://b.example/bird">
    <skos:prefLabel xml:lang="en">bird</skos:prefLabel>
    <skos:prefLabel xml:lang="de">Vogel</skos:prefLabel>
    <skos:altLabel xml:lang="en">fowl</skos:altLabel>
    <skos:altLabel xml:lang="en">bird</skos:altLabel>
  </skos:Concept>
  <skos:Concept rdf:about="http://b.example/animal">
    <skos:prefLabel xml:lang="en">animal</skos:prefLabel>
    <skos:prefLabel xml:lang="de">Tier</skos:prefLabel>
    <skos:narrower rdf:resource="http://b.example/bird"/>
  </skos:Concept>
  <skos:Concept rdf:about="http://b.example/fox">
    <skos:prefLabel xml:lang="en">fox</skos:prefLabel>
    <skos:prefLabel xml:lang="de">Fuchs</skos:prefLabel>
    <o:broader rdf:resource="http://b.example/animal"/>
    <o:prefLabel xml:lang="en">reynard</o:prefLabel>
  </skos:Concept>
</rdf:RDF>
`,
}

// lines writes triples, in which names stand for URLs, as N-Triples.
func lines(triples ...string) string {
	var b strings.Builder
	for _, t := range triples {
		f := strings.SplitN(t, " ", 3)
		if f[2][0] != '"' {
			f[2] = "<http://b.example/" + f[2] + ">"
		}
		b.WriteString("<http://b.example/" + f[0] + "> <" + skos + f[1] + "> " + f[2] + " .\n")
	}
	return b.String()
}

// vocabulary numbers words; a text of several words has no number.
type vocabulary []string

func (v *vocabulary) id(word string) (uint32, bool) {
	if strings.Contains(word, " ") {
		return 0, false
	}
	at := slices.Index(*v, word)
	if at < 0 {
		at, *v = len(*v), append(*v, word)
	}
	return uint32(at), true
}

// words are the words with these numbers, in alphabetical order.
func (v *vocabulary) words(list []uint32) string {
	var words []string
	for _, n := range list {
		words = append(words, (*v)[n])
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSKOS(t *testing.T) {
	for name, text := range formatted {
		path := file(t, name, text)
		for lang, want := range map[string]map[string][2]string{
			"en": {
				"raven": {"corbie corvus ravn", "bird fowl"}, "corbie": {"corvus raven ravn", "bird fowl"}, "corvus": {"corbie raven ravn", "bird fowl"},
				"crow": {"", "bird fowl"}, "bird": {"fowl", "animal corbie corvus crow raven ravn"}, "fowl": {"bird", "animal corbie corvus crow raven ravn"},
				"animal": {"", "bird fowl"}, "fox": {"", ""}, "reynard": {"", ""}, "rabe": {"", ""}, "black": {"", ""}, "r1": {"", ""}, "corax": {"", ""},
			},
			"de": {
				"rabe": {"corvus kolkrabe", "vogel"}, "krähe": {"", "vogel"}, "vogel": {"", "corvus kolkrabe krähe rabe tier"}, "tier": {"", "vogel"},
				"fuchs": {"", ""}, "raven": {"", ""}, "corbie": {"", ""}, "bird": {"", ""},
			},
			"en-GB": {"corbie": {"corvus", ""}, "raven": {"", ""}}, // no label of the birds is only in this language
			"fr":    {"corvus": {"", ""}, "raven": {"", ""}},       // a label without a language is in all languages
		} {
			var v vocabulary
			th, err := Open(path, lang, v.id)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for word, w := range want {
				n, _ := v.id(word)
				same, near := v.words(th.Synonyms(n)), v.words(th.Near(n))
				if same != w[0] || near != w[1] {
					t.Errorf("%s in %s: %s means the same as %q, is near %q; want %q", name, lang, word, same, near, w)
				}
			}
			if lang == "en" && th.Len() < 5 {
				t.Errorf("%s: %d concepts", name, th.Len())
			}
		}
	}
}

// TestSenses: a word of two concepts means the same as both.
func TestSenses(t *testing.T) {
	var v vocabulary
	text := lines(`a prefLabel "crane"`, `a altLabel "bird"`, `b prefLabel "crane"`, `b altLabel "hoist"`, `c prefLabel "machine"`, `c narrower b`, `b broader c`, `d prefLabel "animal"`, `a broader d`)
	th, err := SKOS(file(t, "a.NT", text), "en", v.id)
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string][2]string{"crane": {"bird hoist", "animal machine"}, "hoist": {"crane", "machine"}, "machine": {"", "crane hoist"}} {
		n, _ := v.id(word)
		if same, near := v.words(th.Synonyms(n)), v.words(th.Near(n)); same != want[0] || near != want[1] {
			t.Errorf("%s: the same as %q, near %q; want %q", word, same, near, want)
		}
	}
	if th.Len() != 4 {
		t.Errorf("%d concepts", th.Len())
	}
	for id, g := range th.groups {
		for i, near := range g.near {
			if slices.Contains(g.near[:i], near) {
				t.Errorf("%d is near %v", id, g.near)
			}
		}
	}
}

func TestBrokenSKOS(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.ttl")
	good := lines(`a prefLabel "raven"@en`)
	for _, c := range []struct{ name, text, want string }{
		{"birds.csv", good, "must end in .ttl, .nt, .rdf or .xml"},
		{"birds", good, "must end in .ttl, .nt, .rdf or .xml"},
		{"birds.ttl.gz", good, "must end in .ttl, .nt, .rdf or .xml"},
		{"birds.nt", "", `has no labels`},
		{"birds.nt", lines(`a broader b`), `has no labels`},
		{"birds.nt", lines(`a prefLabel b`), `has no labels`},
		{"birds.nt", good + "<http://b.example/a> and so on\n", ""},
		{"birds.ttl", good + "b:raven skos:prefLabel \"x\" .", ""},
		{"birds.ttl", "name: ravens\n", ""},
		{"birds.ttl", "<?xml version=\"1.0\"?>", ""},
		{"birds.rdf", formatted["birds.ttl"], ""},
		{"birds.xml", strings.Replace(formatted["birds.rdf"], "</skos:prefLabel>", "", 1), ""},
		{"birds.xml", formatted["birds.rdf"][:900], ""},
	} {
		var v vocabulary
		path := file(t, c.name, c.text)
		if _, err := Open(path, "en", v.id); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %.30q: %v, want the name and %q", c.name, c.text, err, c.want)
		}
	}
	var v vocabulary
	if _, err := SKOS(missing, "en", v.id); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestOpen: a folder is read as WordNet, whatever the end of its name, and a file as SKOS.
func TestOpen(t *testing.T) {
	dir := written(t, nouns)
	if err := os.Rename(dir, dir+".ttl"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir + ".ttl") })
	for where, groups := range map[string]int{dir + ".ttl": 5, file(t, "birds.nt", lines(`a prefLabel "raven"`)): 1} {
		var v vocabulary
		th, err := Open(where, "en", v.id)
		if err != nil || th.Len() != groups {
			t.Errorf("%s: %v", where, err)
			continue
		}
		n, _ := v.id("raven")
		if near := v.words(th.Near(n)); (near == "bird") != (groups == 5) {
			t.Errorf("%s: near a raven is %q", where, near)
		}
	}
	var v vocabulary
	if _, err := Open(t.TempDir(), "en", v.id); err == nil || !strings.Contains(err.Error(), "data.noun") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "missing"), "en", v.id); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("nothing: %v", err)
	}
}

func FuzzSKOS(f *testing.F) {
	for name, text := range formatted {
		f.Add(text, filepath.Ext(name))
	}
	f.Fuzz(func(t *testing.T, text, ending string) {
		if _, known := formats[ending]; !known {
			return
		}
		var v vocabulary
		th, err := SKOS(file(t, "f"+ending, text), "en", v.id)
		if (th == nil) == (err == nil) {
			t.Fatalf("%v and %v", th, err)
		}
		if th == nil {
			return
		}
		for n := range uint32(len(v)) {
			if same := th.Synonyms(n); slices.Contains(same, n) || slices.Contains(th.Near(n), n) {
				t.Fatalf("%q means the same as itself", v[n])
			}
		}
	})
}
