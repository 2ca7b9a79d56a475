// Package thesaurus reports which words mean the same, and which are broader or narrower than others.
package thesaurus

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Thesaurus groups terms that mean the same. Terms are numbers of the caller's making.
type Thesaurus struct {
	groups []group
	of     map[uint32][]int32
}

type group struct {
	terms []uint32
	near  []int32 // groups that are broader or narrower by one step
}

// DefaultWordNet is where Debian puts WordNet (package wordnet-base).
const DefaultWordNet = "/usr/share/wordnet"

// WordNet reads the nouns, verbs and adjectives of a WordNet 3 database: data.noun, data.verb and data.adj in a folder
// (format: wndb(5WN)). term numbers a word in small letters; words for which it returns false are left out, as are
// expressions of several words.
func WordNet(dir string, term func(word string) (id uint32, ok bool)) (*Thesaurus, error) {
	t := &Thesaurus{of: map[uint32][]int32{}}
	at := map[string]int32{} // by file letter and offset
	type link struct {
		from int32
		to   string
	}
	var links []link
	for _, part := range []struct{ name, letter string }{{"data.noun", "n"}, {"data.verb", "v"}, {"data.adj", "a"}} {
		f, err := os.Open(filepath.Join(dir, part.name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no WordNet in %s (no %s): install one, such as Debian's wordnet-base, or name its folder", dir, part.name)
		}
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for n := 1; lines.Scan(); n++ {
			line, _, _ := strings.Cut(lines.Text(), " | ")
			if strings.HasPrefix(line, "  ") { // the licence
				continue
			}
			fields := strings.Fields(line)
			words, rest, err := synset(fields)
			if err != nil {
				_ = f.Close()
				return nil, fmt.Errorf("%s:%d: %w", f.Name(), n, err)
			}
			id := int32(len(t.groups))
			at[part.letter+fields[0]] = id
			g := group{}
			for _, w := range words {
				if w, _, _ = strings.Cut(w, "("); strings.Contains(w, "_") { // "(p)": where an adjective stands
					continue
				}
				if number, ok := term(strings.ToLower(w)); ok && !slices.Contains(g.terms, number) {
					g.terms = append(g.terms, number)
					t.of[number] = append(t.of[number], id)
				}
			}
			t.groups = append(t.groups, g)
			for i := 0; i+3 < len(rest); i += 4 {
				if symbol := rest[i]; symbol == "@" || symbol == "~" {
					links = append(links, link{id, rest[i+2] + rest[i+1]})
				}
			}
		}
		if err := errors.Join(lines.Err(), f.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	for _, l := range links {
		if to, known := at[l.to]; known {
			t.groups[l.from].near = append(t.groups[l.from].near, to)
		}
	}
	return t, nil
}

// synset takes a line apart: offset, file, kind, number of words (hexadecimal), each word with a number, number of
// pointers, each of four fields.
func synset(fields []string) (words, pointers []string, err error) {
	if len(fields) < 6 {
		return nil, nil, errors.New("the line is too short for a synset")
	}
	n, err := strconv.ParseUint(fields[3], 16, 16)
	if err != nil || len(fields) < 4+2*int(n)+1 {
		return nil, nil, fmt.Errorf("%q is not the number of its words", fields[3])
	}
	for i := range int(n) {
		words = append(words, fields[4+2*i])
	}
	rest := fields[4+2*int(n):]
	m, err := strconv.Atoi(rest[0])
	if err != nil || m < 0 || len(rest) < 1+4*m {
		return nil, nil, fmt.Errorf("%q is not the number of its pointers", rest[0])
	}
	return words, rest[1 : 1+4*m], nil
}

// Synonyms are the terms that mean the same as one, in any of its senses, itself left out.
func (t *Thesaurus) Synonyms(term uint32) []uint32 { return t.terms(term, t.of[term]) }

// Near are the terms that are one step broader or narrower than a term, in any of its senses.
func (t *Thesaurus) Near(term uint32) []uint32 {
	var around []int32
	for _, id := range t.of[term] {
		around = append(around, t.groups[id].near...)
	}
	return t.terms(term, around)
}

// terms are the terms of some groups, each once, except one.
func (t *Thesaurus) terms(without uint32, groups []int32) (list []uint32) {
	seen := map[uint32]bool{without: true}
	for _, id := range groups {
		for _, term := range t.groups[id].terms {
			if !seen[term] {
				seen[term] = true
				list = append(list, term)
			}
		}
	}
	return list
}

// Len is the number of groups of words that mean the same.
func (t *Thesaurus) Len() int { return len(t.groups) }
