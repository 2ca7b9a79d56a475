package starter

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/intake"
	"github.com/muninn-archive/muninn/internal/urls"
)

// maxEntry is the longest line of a file of scored URLs, in bytes: a URL, the page that links to it and an anchor, with escapes.
const maxEntry = 4 * urls.MaxLine

// readScored reads a file with a JSON object on each line. scored is false, and nothing is read, if its first line that is not empty
// begins otherwise.
func readScored(name string) (list []frontier.Submission, scored bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, false, cli.Usage("%q is neither a URL nor a file of URLs: %v", name, err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxEntry)
	var faults []string
	for n := 1; lines.Scan(); n++ {
		text := bytes.TrimSpace(lines.Bytes())
		switch {
		case len(text) == 0:
			continue
		case !scored && text[0] != '{':
			return nil, false, nil
		case n > urls.MaxLines:
			return nil, true, cli.Usage("%s has more than %d lines: split it", name, urls.MaxLines)
		}
		scored = true
		entry, fault := intake.ReadEntry(text)
		if fault != nil {
			faults = append(faults, fmt.Sprintf("%s, line %d: %s", name, n, strings.TrimLeft(fault.Path+" "+fault.Message, ". ")))
			continue
		}
		list = append(list, entry)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) && !scored {
		return nil, false, nil // of a list of URLs, whose reader says where
	} else if err != nil {
		return nil, true, cli.Usage("%s cannot be read: %v", name, err)
	}
	if len(faults) > 0 {
		return nil, true, cli.Usage("%s", strings.Join(faults, "\n"))
	}
	return list, scored, nil
}
