package selection

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/urls"
)

// Group names captures that one decision is about:
//
//	host:HOST                   a host
//	site:DOMAIN                 a pay-level domain
//	app:APPLICATION/LEVEL       a level of an application, at all hosts; LEVEL may be empty
//	app:APPLICATION/LEVEL@HOST  … at one host
//	near:PRINT                  near-duplicates: captures whose print differs from PRINT, 16 hexadecimal digits, in few bits
//
// In names of applications and levels '%', '/' and '@' are written %25, %2F and %40.
type Group string

// The kinds of groups.
const (
	KindHost = "host"
	KindSite = "site"
	KindApp  = "app"
	KindNear = "near"
)

// near is in how many of 64 bits the prints of near-duplicates differ at most: as many as internal/traps takes.
const near = 3

// ErrGroup says that a text names no group.
var ErrGroup = errors.New("a group is host:HOST, site:DOMAIN, app:APPLICATION/LEVEL, app:APPLICATION/LEVEL@HOST or near:PRINT")

var (
	escape   = strings.NewReplacer("%", "%25", "/", "%2F", "@", "%40")
	unescape = strings.NewReplacer("%25", "%", "%2F", "/", "%40", "@")
)

// HostGroup are the captures of a host.
func HostGroup(host string) Group { return Group(KindHost + ":" + host) }

// SiteGroup are the captures of a pay-level domain.
func SiteGroup(domain string) Group { return Group(KindSite + ":" + domain) }

// AppGroup are the captures of a level of an application, at a host or, without one, at all.
func AppGroup(application, level, host string) Group {
	text := KindApp + ":" + escape.Replace(application) + "/" + escape.Replace(level)
	if host != "" {
		text += "@" + host
	}
	return Group(text)
}

// NearGroup are the captures that read like one with a print.
func NearGroup(print uint64) Group { return Group(fmt.Sprintf("%s:%016x", KindNear, print)) }

// Alike reports whether two prints are those of near-duplicates.
func Alike(a, b uint64) bool { return a != 0 && b != 0 && bits.OnesCount64(a^b) <= near }

// ParseGroup reads the name of a group and returns its only form, by which it is known. ErrGroup says what is wrong.
func ParseGroup(text string) (Group, error) {
	bad := func(why string) (Group, error) { return "", fmt.Errorf("%q: %s: %w", cut(text), why, ErrGroup) }
	kind, rest, _ := strings.Cut(text, ":")
	switch kind {
	case KindHost, KindSite:
		host, err := hostOf(rest)
		if err != nil {
			return bad(err.Error())
		}
		if kind == KindHost {
			return HostGroup(host), nil
		}
		if site := urls.PLD(host); site != host {
			return bad(fmt.Sprintf("%s is a host of %s, not a pay-level domain", host, site))
		}
		return SiteGroup(host), nil
	case KindApp:
		what, host, atHost := strings.Cut(rest, "@")
		application, level, both := strings.Cut(what, "/")
		if !both || application == "" || strings.Contains(level, "/") || strings.Contains(host, "@") {
			return bad("it does not have the form APPLICATION/LEVEL")
		}
		if len(what) > maxNames || !plain(what) {
			return bad("its names are too long, or have control characters")
		}
		if atHost {
			var err error
			if host, err = hostOf(host); err != nil {
				return bad(err.Error())
			}
		}
		return AppGroup(unescape.Replace(application), unescape.Replace(level), host), nil
	case KindNear:
		print, err := strconv.ParseUint(rest, 16, 64)
		if err != nil || len(rest) != 16 || print == 0 {
			return bad("a print has 16 hexadecimal digits, not all of them 0")
		}
		return NearGroup(print), nil
	}
	return bad("its kind is not known")
}

// maxNames bounds the names of an application and a level in a group, in bytes.
const maxNames = 512

// hostOf is a host in its canonical form.
func hostOf(text string) (string, error) {
	u, err := urls.Parse("http://" + text + "/")
	port := strings.Contains(text, ":") && !strings.HasSuffix(text, "]") // an IPv6 address stands in brackets
	if err != nil || port || strings.ContainsAny(text, `@/\?#`) || u.RequestURI() != "/" {
		return "", fmt.Errorf("%q is no host", cut(text))
	}
	return u.Host(), nil
}

// Kind is what the name of a group begins with.
func (g Group) Kind() string {
	kind, _, _ := strings.Cut(string(g), ":")
	return kind
}

// Print is the print of a group of near-duplicates; false of another kind.
func (g Group) Print() (uint64, bool) {
	rest, is := strings.CutPrefix(string(g), KindNear+":")
	if !is {
		return 0, false
	}
	print, err := strconv.ParseUint(rest, 16, 64)
	return print, err == nil
}

// Groups are the groups that a capture belongs to by its names, the narrowest first; and the group of those that read like it, if it has
// a print.
func (f *Facts) Groups() (list []Group) {
	if f.Print != 0 {
		list = append(list, NearGroup(f.Print))
	}
	if f.Application != "" {
		if f.Host != "" {
			list = append(list, AppGroup(f.Application, f.Level, f.Host))
		}
		list = append(list, AppGroup(f.Application, f.Level, ""))
	}
	if f.Host != "" {
		list = append(list, HostGroup(f.Host), SiteGroup(f.Site))
	}
	return list
}

// In reports whether a capture belongs to a group.
func (f *Facts) In(g Group) bool {
	if print, is := g.Print(); is {
		return Alike(print, f.Print)
	}
	for _, own := range f.Groups() {
		if own == g {
			return true
		}
	}
	return false
}
