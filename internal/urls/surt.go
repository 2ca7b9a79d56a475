package urls

import (
	"slices"
	"strings"
)

// SURT returns the URL in Sort-friendly URI Reordering Transform without its scheme, such as
// "org,example,)/path?q": the form of scope prefixes. A port stands after the last comma, so that
// "org,example," is a prefix of every URL of example.org; an IP address stands as it is.
func (u URL) SURT() string {
	if _, ip := Address(u.host); ip {
		return u.Authority() + ")" + u.RequestURI()
	}
	return reversed(u.host) + "," + u.portSuffix() + ")" + u.RequestURI()
}

func (u URL) portSuffix() string { return u.Authority()[len(u.host):] }

func reversed(host string) string {
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ",")
}
