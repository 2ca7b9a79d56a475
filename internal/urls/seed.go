package urls

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// ErrUser says that a URL has user information. The canonical form has none; but what people write goes to Temporal first.
var ErrUser = errors.New("has a user name before the host: leave user and password out")

// ParseSeed parses a URL that somebody hands in: a seed, an example, a URL submitted to a crawl that runs. Beside what Parse
// refuses, it refuses what would be found to be wrong only later: user information (ErrUser), what is too long for a page (ErrLong) and ports that are never asked
// (PortError). Links in pages are canonical without user information, and their ports are refused when they are fetched.
func ParseSeed(raw string) (URL, error) {
	if crawl.HasUser(raw) {
		return URL{}, ErrUser
	}
	u, err := Parse(raw)
	if err != nil {
		return URL{}, err
	}
	if len(u.text) > MaxPage {
		return URL{}, ErrLong
	}
	return u, CheckPort(u.Port())
}

// Limits of a list of URLs.
const (
	MaxLines = 1_000_000
	MaxLine  = 64 << 10 // bytes; a URL has MaxPage at most
)

// Line is a line of a list that holds a URL.
type Line struct {
	Number int // from 1
	Text   string
}

// ReadList reads a list of URLs, one a line. Empty lines are left out, and what follows a # at the start of a line or after a
// blank. The URLs are not looked at, so that a list that is too long is refused before any is parsed. name is that of the file,
// for errors.
func ReadList(name string, r io.Reader) (list []Line, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, MaxLine)
	n := 0
	for lines.Scan() {
		if n++; n > MaxLines {
			return nil, fmt.Errorf("%s has more than %d lines, the most that a list of URLs may have: split it", name, MaxLines)
		}
		text, _, _ := strings.Cut(lines.Text(), " #")
		if text = strings.TrimSpace(text); text != "" && text[0] != '#' {
			list = append(list, Line{n, text})
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s, line %d has more than %d bytes: a list of URLs has one a line, of %d bytes at most", name, n+1, MaxLine, MaxPage)
	case err != nil:
		return nil, fmt.Errorf("%s, line %d cannot be read: %w", name, n+1, err)
	}
	return list, nil
}
