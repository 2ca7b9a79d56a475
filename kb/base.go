package kb

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed applications/*.xml categories/*.xml kb.xsd README.md
var shipped embed.FS

// Base is a checked knowledge base. It is safe for concurrent use.
type Base struct {
	Applications []*Application // the generic one last
	Categories   map[string]*Category
	Sites        []*Site
	ID           string // checksum of all files
	Marks        Marks

	byName   map[string]*Application
	profiles map[profileKey]*Profile
	hosts    map[string]*Site
	patterns map[string]Pattern // by expression
}

// Faults lists what is wrong with a knowledge base, a line each.
type Faults []string

func (f Faults) Error() string { return strings.Join(f, "\n") }

// Shipped loads the base that is built in.
func Shipped() (*Base, error) { return Load(shipped) }

// Schema is the XML Schema of the files.
func Schema() []byte {
	raw, err := shipped.ReadFile("kb.xsd")
	if err != nil {
		panic(err) // it is embedded
	}
	return raw
}

// Files returns the files that are built in, to copy them.
func Files() fs.FS { return shipped }

// Load reads all .xml files of a folder and the folders in it. A base with any fault is refused; the error
// is a Faults that names file, line and reason of each.
func Load(files fs.FS) (*Base, error) {
	b := &Base{Categories: map[string]*Category{}, byName: map[string]*Application{}, hosts: map[string]*Site{}, profiles: map[profileKey]*Profile{}, patterns: map[string]Pattern{}}
	sum := sha256.New()
	var faults Faults
	read := 0
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if Hidden(name) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() || path.Ext(name) != ".xml" {
			return nil
		}
		raw, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		read++
		fmt.Fprintf(sum, "%s %d\n", name, len(raw))
		sum.Write(raw)
		f, err := parse(name, raw)
		var more Faults
		if errors.As(err, &more) {
			faults = append(faults, more...)
			return nil
		}
		faults = append(faults, b.add(f)...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load knowledge base: %w", err)
	}
	if read == 0 {
		return nil, Faults{"the knowledge base has no .xml file"}
	}
	b.ID = hex.EncodeToString(sum.Sum(nil))[:12]
	b.sort()
	if len(faults) == 0 {
		faults = b.join()
	}
	if len(faults) > 0 {
		return nil, faults
	}
	b.number()
	return b, nil
}

// Hidden reports whether a name begins with a dot; such files are not read: what editors and mounts leave.
func Hidden(name string) bool {
	base := path.Base(name)
	return len(base) > 1 && base[0] == '.'
}

// add takes what a file holds into the base.
func (b *Base) add(f file) (faults Faults) {
	twice := func(what, name, file, other string) {
		faults = append(faults, fmt.Sprintf("%s:1: %s %q is in %s already", file, what, name, other))
	}
	switch {
	case f.category != nil:
		if other := b.Categories[f.category.Name]; other != nil {
			twice("category", f.category.Name, f.category.File, other.File)
		}
		b.Categories[f.category.Name] = f.category
	case f.application != nil:
		if other := b.Application(f.application.Name); other != nil {
			twice("application", other.Name, f.application.File, other.File)
		}
		b.Applications, b.byName[f.application.Name] = append(b.Applications, f.application), f.application
	case f.site != nil:
		for _, host := range f.site.Hosts {
			if other := b.hosts[host]; other != nil {
				twice("host", host, f.site.File, other.File)
			}
			b.hosts[host] = f.site
		}
		b.Sites = append(b.Sites, f.site)
	}
	return faults
}

// sort puts the generic case last, and each kind in the order of names.
func (b *Base) sort() {
	rank := func(a *Application) string {
		if a.Category == "generic" {
			return "1" + a.Name
		}
		return "0" + a.Name
	}
	slices.SortStableFunc(b.Applications, func(x, y *Application) int { return strings.Compare(rank(x), rank(y)) })
}

// Application returns the application of a name, nil if there is none.
func (b *Base) Application(name string) *Application {
	return b.byName[name]
}

// Generic returns the lowest layer, nil if the base has none.
func (b *Base) Generic() *Application {
	if n := len(b.Applications); n > 0 && b.Applications[n-1].Category == "generic" {
		return b.Applications[n-1]
	}
	return nil
}

// SiteOf returns what the base knows of a host alone, nil if nothing.
func (b *Base) SiteOf(host string) *Site { return b.hosts[host] }
