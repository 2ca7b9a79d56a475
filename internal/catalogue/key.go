package catalogue

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/urls"
)

// maxKey bounds a key in bytes: an index entry of PostgreSQL has 2,704 bytes at most. A longer key is cut off and ends with a hash of
// the whole: such captures are found by their URL, and stand beside their neighbours.
const maxKey = 2000

// hashedEnd is how many bytes of a key that was cut off are its hash, behind '%', which no other key has before a letter g–z.
const hashedEnd = 34

// KeyOf is the key of a URL: its SURT, as a CDXJ has it.
func KeyOf(url string) (string, error) {
	u, err := urls.Trusted(url)
	if err != nil {
		return "", err
	}
	return shortened(u.Key()), nil
}

func shortened(key string) string {
	if len(key) <= maxKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return key[:maxKey-hashedEnd] + "%x" + hex.EncodeToString(sum[:16])
}

// Number is the number of a segment in indexes: 63 bits of a hash of its name, so that a catalogue that is built again has the
// same order.
func (n SegmentName) Number() int64 {
	h := sha256.New()
	for _, part := range []string{n.Crawl.Prefix, n.Crawl.Name, n.Name} {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(part))))
		_, _ = h.Write([]byte(part))
	}
	return int64(binary.BigEndian.Uint64(h.Sum(nil)) >> 1)
}

// DigestNumber is the number of a digest in indexes: 63 bits of a hash of its text. Different digests may have the same one.
func DigestNumber(digest string) int64 {
	sum := sha256.Sum256([]byte(digest))
	return int64(binary.BigEndian.Uint64(sum[:]) >> 1)
}

// written is the scheme of a URL as people write it.
var written = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// SplitScheme cuts a URL as people write it behind its scheme: "http://" if it has none.
func SplitScheme(text string) (scheme, rest string) {
	if scheme = written.FindString(text); scheme != "" {
		return scheme, text[len(scheme):]
	}
	return "http://", strings.TrimPrefix(text, "//")
}

// hostPart is what a key begins with, before its path: the labels of its host in reverse, and its port.
func hostPart(key string) string {
	part, _, _ := strings.Cut(key, ")")
	return part
}

// PLDOf is the pay-level domain of a key's host. All keys with the same host have the same one.
func PLDOf(key string) string {
	part := hostPart(key)
	if strings.Count(part, ":") > 1 { // IPv6
		return part
	}
	host, _, _ := strings.Cut(part, ":")
	labels := strings.Split(strings.TrimSuffix(host, ","), ",")
	slices.Reverse(labels)
	return urls.PLD(strings.Join(labels, "."))
}
