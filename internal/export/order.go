package export

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Format is what an export writes records into.
type Format string

// The formats of records.
const (
	WARC Format = "warc"
	WACZ Format = "wacz"
)

// DefaultSize is the default of Order.Size.
const DefaultSize = 1 << 30

// minSize bounds Order.Size, in bytes: an export of more parts than captures helps nobody.
const minSize = 1 << 10

// Order says what is exported and how. The same order of the same archive gives the same files.
type Order struct {
	Name   string            `json:"name"` // the files' names begin with it
	Crawls []archive.CrawlAt `json:"crawls"`
	Format Format            `json:"format"`
	Size   int64             `json:"size"` // of a part, in bytes: a new one begins when the next group of records would pass it
	// Keep says which captures are kept; nil: everything is exported, also what is no capture.
	Keep *Rules `json:"keep,omitempty"`
	// Chosen says it of single captures, in place of Keep. It does not go with an order that is sent: the outcome is in the plans.
	Chosen   *Chosen `json:"-"`
	Software string  `json:"software"` // for warcinfo and WACZ
}

// validName is the form of Order.Name.
var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Validate reports what is wrong with an order: crawl.Faults that name its fields.
func (o *Order) Validate() error {
	var faults crawl.Faults
	fault := func(field, format string, args ...any) {
		faults = append(faults, crawl.Fault{Path: field, Message: fmt.Sprintf(format, args...)})
	}
	if !validName.MatchString(o.Name) {
		fault("name", "%q must have letters, digits, '.', '-' and '_' alone, at most 100", o.Name)
	}
	if len(o.Crawls) == 0 {
		fault("crawls", "name at least one")
	}
	if o.Format != WARC && o.Format != WACZ {
		fault("format", "%q must be warc or wacz", o.Format)
	}
	if o.Size < minSize {
		fault("size", "%d bytes: a part must have %d at least", o.Size, minSize)
	}
	if o.Keep != nil && o.Chosen != nil {
		fault("keep", "rules and decisions on single captures are given: use one of them")
	}
	if o.Chosen != nil {
		names := map[string]bool{}
		for _, at := range distinct(o.Crawls) {
			if names[at.Name] {
				fault("crawls", "two are named %q, and decisions on captures name their crawl: export them one after the other", at.Name)
			}
			names[at.Name] = true
		}
	}
	if o.Keep != nil {
		faults = append(faults, o.Keep.faults()...)
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// CheckPlace reports whether an export may be written to a folder or s3://bucket/prefix: not among the manifests of segments, for which its files would be taken.
func CheckPlace(to string) error {
	if path.Base(to) == "segments" {
		return fmt.Errorf("%s may hold the manifests of a crawl: name another folder or prefix", to)
	}
	return nil
}

// CheckApart reports whether an export may be written to a place beside an archive: neither to the archive itself nor within it, where verify would
// list its files as remains, and could delete them. Both are folders or s3://bucket/prefix.
func CheckApart(from, to string) error {
	of, at := resolved(from), resolved(to)
	switch {
	case of == at:
		return fmt.Errorf("%s is the archive itself: name another folder or prefix", to)
	case strings.HasPrefix(at, strings.TrimSuffix(of, "/")+"/"):
		return fmt.Errorf("%s lies within the archive %s: name a folder or prefix outside of it", to, from)
	}
	return nil
}

// resolved is the one form of a place, of a folder without symbolic links; slashes divide its parts.
func resolved(place string) string {
	place = strings.TrimPrefix(place, "file://")
	if scheme, rest, is := strings.Cut(place, "://"); is {
		return scheme + "://" + path.Clean(rest)
	}
	whole, err := filepath.Abs(place)
	if err != nil {
		return filepath.ToSlash(filepath.Clean(place))
	}
	there, rest := whole, "" // what is not there yet has no links
	for {
		if real, err := filepath.EvalSymlinks(there); err == nil {
			return filepath.ToSlash(filepath.Join(real, rest))
		}
		above := filepath.Dir(there)
		if above == there {
			return filepath.ToSlash(whole)
		}
		there, rest = above, filepath.Join(filepath.Base(there), rest)
	}
}
