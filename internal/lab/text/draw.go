package text

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/muninn-archive/muninn/internal/lab/recognition"
)

// The most pages of one host that are drawn.
const (
	drawnOfHost  = 2
	drawnOfAlone = 4 // of the only host of an application
)

// Draw puts the pages of an index in the order in which they get gold, by application: at random, but the same each time; the
// first page of each host before the second of any. No more are drawn of a host than give its site a say.
func Draw(index []recognition.Labelled, seed string) map[string][]recognition.Labelled {
	out, alone := map[string][]recognition.Labelled{}, singleHosts(index)
	shuffled := slices.Clone(index)
	lot := func(l recognition.Labelled) string {
		h := sha256.Sum256([]byte(seed + " " + l.File))
		return string(h[:])
	}
	slices.SortFunc(shuffled, func(a, b recognition.Labelled) int { return cmp.Compare(lot(a), lot(b)) })
	type key struct{ application, host string }
	turn := map[key]int{}
	turns := map[string][][]recognition.Labelled{}
	for _, l := range shuffled {
		name := l.Application()
		k := key{name, hostOf(l)}
		most := drawnOfHost
		if alone[name] {
			most = drawnOfAlone
		}
		if turn[k] == most {
			continue
		}
		for len(turns[name]) <= turn[k] {
			turns[name] = append(turns[name], nil)
		}
		turns[name][turn[k]] = append(turns[name][turn[k]], l)
		turn[k]++
	}
	for name, list := range turns {
		out[name] = slices.Concat(list...)
	}
	return out
}

// Seed is that of the draw for the shipped gold.
const Seed = "gold 1"

// PrintDraw prints the draw for a folder: for each page its application, what its gold is used for, its label and host, and a star
// if list has gold of it.
func PrintDraw(out io.Writer, dir string, list []Gold) error {
	index, err := recognition.Read(dir, "")
	if err != nil {
		return err
	}
	alone, drawn := singleHosts(index), Draw(index, Seed)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(drawn)) {
		for _, l := range drawn[name] {
			star := ""
			if slices.ContainsFunc(list, func(g Gold) bool { return g.File == l.File }) {
				star = "*"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", star, name, UseOf(hostOf(l), alone[name]), l.File, l.Level, hostOf(l))
		}
	}
	return w.Flush()
}
