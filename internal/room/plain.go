package room

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain is a text of a page for display: valid UTF-8 without characters that control what is around them, such as the direction of
// writing, or show nothing. Line feeds and joiners of scripts stay.
func plain(s string) string {
	clean := true
	for _, r := range s {
		if unseen(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\r':
			return ' '
		case unseen(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

func unseen(r rune) bool {
	const zwnj, zwj, lrm, rlm = 0x200c, 0x200d, 0x200e, 0x200f
	switch {
	case r == '\n':
		return false
	case r == utf8.RuneError || unicode.IsControl(r):
		return true
	}
	return unicode.Is(unicode.Cf, r) && r != zwnj && r != zwj && r != lrm && r != rlm || r >= 0x2028 && r <= 0x2029
}

// oneLine is a text of a page for a heading or a link, cut after n bytes.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(plain(s)), " ")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + " …"
}

// live is the address of a page on the live web, for a link that says so; empty if it is no address of HTTP.
func live(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || plain(address) != address {
		return ""
	}
	return u.String()
}

// Lengths of what is shown in one line, in bytes.
const (
	titleBytes = 200
	urlBytes   = 300
)

// titled is the title of a page, or its URL.
func titled(title, url string) string {
	if t := oneLine(title, titleBytes); t != "" {
		return t
	}
	return oneLine(url, urlBytes)
}
