package thesaurus

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knakk/rdf"
)

// Open reads a thesaurus: a folder with a WordNet 3 database (of English), or a SKOS file.
func Open(where, lang string, term func(word string) (id uint32, ok bool)) (*Thesaurus, error) {
	info, err := os.Stat(where)
	if _, is := formats[strings.ToLower(filepath.Ext(where))]; err == nil && !info.IsDir() || err != nil && is {
		return SKOS(where, lang, term)
	}
	return WordNet(where, term)
}

// formats are the formats of SKOS files, by the ending of their names.
var formats = map[string]rdf.Format{".ttl": rdf.Turtle, ".nt": rdf.NTriples, ".rdf": rdf.RDFXML, ".xml": rdf.RDFXML, ".owl": rdf.RDFXML}

const skos = "http://www.w3.org/2004/02/skos/core#"

// SKOS reads the labels of concepts and which of them are broader, narrower or related, from a file in Turtle (.ttl),
// N-Triples (.nt) or RDF/XML (.rdf, .xml), as the W3C recommendation SKOS Reference of 2009 has them: skos:prefLabel,
// skos:altLabel and skos:hiddenLabel; skos:broader and skos:narrower. Labels of other languages than lang are left out,
// labels without a language are not. Labels of several words stand for no term.
func SKOS(file, lang string, term func(word string) (id uint32, ok bool)) (*Thesaurus, error) {
	format, known := formats[strings.ToLower(filepath.Ext(file))]
	if !known {
		return nil, fmt.Errorf("%s is not a thesaurus that can be read: its name must end in .ttl, .nt, .rdf or .xml", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	t := &Thesaurus{of: map[uint32][]int32{}}
	at := map[string]int32{}
	concept := func(uri string) int32 {
		id, known := at[uri]
		if !known {
			id = int32(len(t.groups))
			at[uri] = id
			t.groups = append(t.groups, group{})
		}
		return id
	}
	labels, lang := 0, strings.ToLower(lang)
	for dec := rdf.NewTripleDecoder(f, format); ; {
		triple, err := dec.Decode()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		name, ours := strings.CutPrefix(triple.Pred.String(), skos)
		if !ours {
			continue
		}
		from := concept(triple.Subj.String())
		switch name {
		case "prefLabel", "altLabel", "hiddenLabel":
			label, is := triple.Obj.(rdf.Literal)
			if !is {
				continue
			}
			labels++
			if l := strings.ToLower(label.Lang()); l != "" && l != lang && !strings.HasPrefix(l, lang+"-") {
				continue
			}
			if number, ok := term(strings.ToLower(label.String())); ok && !slices.Contains(t.groups[from].terms, number) {
				t.groups[from].terms = append(t.groups[from].terms, number)
				t.of[number] = append(t.of[number], from)
			}
		case "broader", "narrower":
			to := concept(triple.Obj.String())
			t.near(from, to)
			t.near(to, from)
		}
	}
	if labels == 0 {
		return nil, fmt.Errorf("%s has no labels (skos:prefLabel, skos:altLabel)", file)
	}
	return t, nil
}

// near says that a group is one step broader or narrower than another.
func (t *Thesaurus) near(from, to int32) {
	if !slices.Contains(t.groups[from].near, to) {
		t.groups[from].near = append(t.groups[from].near, to)
	}
}
