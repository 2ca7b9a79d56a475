package selection

import (
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/traps"
)

// printWords is how many words a page has at least that has a print: shorter texts are alike by chance, or are messages.
const printWords = 20

// PrintOf is the print of a text whose blocks are joined by line feeds, as derivations and parsed pages have it; 0 of a text that is
// too short. Prints of the same text are the same wherever it was read.
func PrintOf(text string) uint64 {
	p := traps.PrintOf(&crawl.Page{MIME: "text/html", Blocks: strings.Split(text, "\n")})
	if p == nil || p.Words < printWords {
		return 0
	}
	return p.All
}
