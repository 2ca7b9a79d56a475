package catalogue

import (
	"fmt"
	"strings"

	"github.com/muninn-archive/muninn/internal/urls"
)

// Span is a range of keys: those from From on that are before Until. An exact span has one key, From.
type Span struct {
	From, Until string
	Exact       bool
}

// lastKey is behind all keys, which are of visible ASCII characters.
const lastKey = "\x7f"

// PLD is the pay-level domain whose keys alone are in the span; false if there may be several, as below a host: some hosts of
// amazonaws.com are public suffixes.
func (s Span) PLD() (string, bool) {
	host := hostPart(s.From)
	if s.Exact || host != s.From && s.Until <= after(host+")") {
		return PLDOf(s.From), true
	}
	return "", false
}

// after is the first text behind all those that begin with a prefix.
func after(prefix string) string {
	end := []byte(prefix)
	end[len(end)-1]++
	return string(end)
}

func prefixSpan(prefix string) Span { return Span{From: prefix, Until: after(prefix)} }

// spans are the keys that a query asks for, in their order.
func (q *Query) spans() ([]Span, error) {
	if q.URL == "" && q.Key == "" {
		if q.Digest != "" || q.Match == Range {
			return []Span{{Until: lastKey}}, nil
		}
		return nil, &QueryError{"url", "is missing"}
	}
	key, err := q.key()
	if err != nil {
		return nil, err
	}
	host := hostPart(key)
	switch q.Match {
	case Exact:
		return []Span{{From: key, Exact: true}}, nil
	case Prefix:
		if len(key) >= maxKey {
			return nil, &QueryError{"url", fmt.Sprintf("is longer than %d bytes, the most for a prefix", maxKey)}
		}
		return []Span{prefixSpan(key)}, nil
	case Host:
		return []Span{prefixSpan(host + ")")}, nil
	case Domain:
		if strings.Count(host, ":") > 1 { // nothing is below an IPv6 address, whose end looks like a port
			return []Span{prefixSpan(host + ")")}, nil
		}
		host, _, _ = strings.Cut(host, ":")
		// In the order of keys: the host, what is below it, its other ports.
		return []Span{prefixSpan(host + ")"), prefixSpan(host + ","), prefixSpan(host + ":")}, nil
	case Range:
		until := lastKey
		if q.Until != "" {
			if until, err = keyAsWritten("urlTo", q.Until); err != nil {
				return nil, err
			}
		}
		return []Span{{From: key, Until: until}}, nil
	}
	return nil, &QueryError{"matchType", fmt.Sprintf("is %d, which is none", q.Match)}
}

// key is that of the query's URL.
func (q *Query) key() (string, error) {
	if q.Key != "" {
		return q.Key, checkKey(q.Key)
	}
	key, err := keyAsWritten("url", q.URL)
	if err == nil && q.Match == Prefix && strings.HasSuffix(q.URL, "/") && !strings.HasSuffix(key, "/") {
		key += "/" // which keys leave out at their end
	}
	return key, err
}

func checkKey(key string) error {
	if len(key) > maxKey {
		return &QueryError{"urlkey", fmt.Sprintf("is longer than %d bytes", maxKey)}
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] >= 0x7f {
			return &QueryError{"urlkey", "has other characters than visible ASCII"}
		}
	}
	return nil
}

// keyAsWritten is the key of a URL as people write it: without a scheme it is of http.
func keyAsWritten(field, text string) (string, error) {
	scheme, rest := SplitScheme(text)
	u, err := urls.Parse(scheme + rest)
	if err != nil {
		return "", &QueryError{field, err.Error()}
	}
	return shortened(u.Key()), nil
}
