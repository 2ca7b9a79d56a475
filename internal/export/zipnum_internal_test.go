package export

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestZipNumEnds: ReplayWeb.page finds the block of each line, also of URLs that end with a slash, which it looks for by a key with the slash, and lines of which others
// lie before that key, such as /a-b and /a.html.
func TestZipNumEnds(t *testing.T) {
	line := func(key string, n int) string { return fmt.Sprintf("%s %014d {}\n", key, n) }
	var lines, slashed []string // and those of URLs that end with a slash
	for folder := range 40 {
		key := fmt.Sprintf("example)/%d", folder)
		slashed = append(slashed, line(key, 1), line(key, 2))
		for page := range 100 {
			lines = append(lines, line(fmt.Sprintf("%s-%d", key, page), 1), line(fmt.Sprintf("%s.%d", key, page), 1), line(fmt.Sprintf("%s/%d", key, page), 1))
		}
	}
	lines = append(lines, slashed...)
	slices.Sort(lines)
	ends := zipNumEnds(lines)
	if want := len(lines)/zipNumLines - 2; len(ends) < want {
		t.Errorf("%d blocks, want %d at least", len(ends), want)
	}
	first := 0
	for _, end := range ends {
		if many := end - first; many == 0 || many > maxZipNumLines {
			t.Errorf("a block has %d lines", many)
		}
		first = end
	}
	if first != len(lines) {
		t.Errorf("the blocks have %d of %d lines", first, len(lines))
	}
	for n, line := range lines {
		key, _, _ := strings.Cut(line, " ")
		if slices.Contains(slashed, line) {
			key += "/"
		}
		if block := blockOf(ends, n); !slices.Contains(asked(lines, ends, key), block) {
			t.Errorf("%q is in block %d, and the player reads %v", line, block, asked(lines, ends, key))
		}
	}
	if one := zipNumEnds(slices.Repeat([]string{line("example)/", 1)}, 3*maxZipNumLines)); len(one) != 3 {
		t.Errorf("blocks of one key end at %v", one)
	}
}

func blockOf(ends []int, line int) int {
	return slices.IndexFunc(ends, func(end int) bool { return line < end })
}

// asked are the blocks that ReplayWeb.page 2.5.3 reads for a key (loadCDXFromIDX).
func asked(lines []string, ends []int, key string) (blocks []int) {
	after := 0 // the first block that begins behind the key
	begins := func(block int) string {
		if block == 0 {
			return lines[0]
		}
		return lines[ends[block-1]]
	}
	for after < len(ends) && begins(after) < key+" 9999" {
		after++
	}
	path, _, _ := strings.Cut(key, "?")
	for block := after - 1; block >= 0; block-- {
		blocks = append(blocks, block)
		if !strings.HasPrefix(begins(block), path) {
			break
		}
	}
	for block := range ends {
		if begins(block) >= key {
			return append(blocks, block)
		}
	}
	return blocks
}
