package candidates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/derive"
	"github.com/muninn-archive/muninn/internal/selection"
	"github.com/muninn-archive/muninn/internal/urls"
)

// The limits of what is kept of a page while candidates are read.
const (
	maxAnchors = 8   // texts of links to a page
	maxAnchor  = 200 // bytes of each
	maxTypes   = 16  // kinds of web objects of a page
)

// Archive reads candidates from the segments of an archive: index, metadata records, objects and links, and the text of a page from what
// the step text has derived of it, else from its record. It holds one WARC object at a time, in a working file.
type Archive struct {
	Store  archive.Store
	Crawls []archive.CrawlAt
	// Complain is called with why the text of a capture cannot be read: it is a candidate without one; and with why a segment is damaged: the rest of it is
	// left out. nil: nobody is called.
	Complain func(error)
}

// Of finds the crawls of an archive that a selection speaks of. An error names those that the archive does not have.
func Of(ctx context.Context, store archive.Store, s selection.Creation) ([]archive.CrawlAt, error) {
	all, err := archive.Crawls(ctx, store)
	if err != nil {
		return nil, err
	}
	if len(s.Crawls) == 0 {
		if len(all) == 0 {
			return nil, fmt.Errorf("%s holds no crawl with segments: give the folder or prefix that the folders of crawls lie in", store)
		}
		return all, nil
	}
	var list []archive.CrawlAt
	for _, name := range s.Crawls {
		n := len(list)
		for _, at := range all {
			if at.Name == name {
				list = append(list, at)
			}
		}
		if len(list) == n {
			return nil, fmt.Errorf("%s holds no crawl %q with segments", store, name)
		}
	}
	return list, nil
}

// Each calls fn with each capture of a page, crawl by crawl: responses and revisits that answered 2xx, but for what pages need to be
// shown, and for robots.txt. It calls fn for one after the other. They are prepared
// for queries until fn returns.
func (a Archive) Each(ctx context.Context, fn func(selection.Facts) error) error {
	a.Store = archive.Faults(a.Store) // so that a fault of the network is no damage
	known, err := a.survey(ctx)
	if err != nil {
		return err
	}
	r := &derive.Reader{Store: a.Store, Originals: known.original}
	defer r.Close()
	for _, at := range a.Crawls {
		err := a.segments(ctx, at, a.complain, func(m archive.Manifest) error {
			s := segment{Archive: a, at: at, m: m, survey: known}
			return s.each(ctx, r, fn)
		})
		if err != nil {
			return fmt.Errorf("read the candidates of %s: %w", at.Name, err)
		}
	}
	return nil
}

// complain passes on why something is left out.
func (a Archive) complain(err error) {
	if a.Complain != nil {
		a.Complain(err)
	}
}

// segments calls fn with the manifests of a crawl. What says that a segment is damaged, whether its manifest or what fn reads of it, is complained of, and the next one follows.
func (a Archive) segments(ctx context.Context, at archive.CrawlAt, complain func(error), fn func(archive.Manifest) error) error {
	damaged := func(err error) error {
		complain(err)
		return nil
	}
	w := archive.Walk[struct{}]{Of: archive.Layout{Prefix: at.Prefix, Crawl: at.Name}, Damaged: damaged}
	return w.Each(ctx, a.Store, func(m archive.Manifest, _ struct{}) error {
		err := fn(m)
		if of := (*ended)(nil); errors.As(err, &of) {
			return of.error
		}
		if err != nil && ctx.Err() == nil && archive.Damaged(err) {
			return damaged(fmt.Errorf("segment %s: %w", m.Segment(), err))
		}
		return err
	})
}

// ended is an error of those who take candidates: it says nothing of a segment.
type ended struct{ error }

// isPage reports whether a line of an index may be of a page.
func isPage(i *archive.Indexed) bool {
	unmodified := i.Revisit && i.Status == 0 // a 304
	return (unmodified || i.Status >= 200 && i.Status < 300) && strings.HasPrefix(i.URL, "http") && !i.Robots()
}

// segment is a segment that is read.
type segment struct {
	Archive
	*survey
	at      archive.CrawlAt
	m       archive.Manifest
	texts   map[capture]text
	derived bool
}

// capture names a capture within a segment. The index has no fractions of seconds.
type capture struct {
	url  string
	unix int64
}

// text is what the step text has derived of a capture, as far as it is of use here.
type text struct{ title, language, author, text string }

func (s *segment) each(ctx context.Context, r *derive.Reader, fn func(selection.Facts) error) error {
	if err := s.readTexts(ctx); err != nil {
		return err
	}
	objects, err := s.objects(ctx)
	if err != nil {
		return err
	}
	ready := selection.NewPreparer()
	return r.Each(ctx, s.m, func(c *derive.Capture) error {
		if !isPage(&c.Indexed) || crawl.ClassOf(c.Path) != crawl.ClassPage {
			return nil
		}
		f, err := s.facts(ctx, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			s.complain(fmt.Errorf("%s of %s: %w", f.URL, f.Date.Format("2006-01-02T15:04:05Z"), err))
		}
		o := objects[capture{f.URL, f.Date.Unix()}]
		f.Types, f.Author, f.Revisit = o.types, cmp.Or(f.Author, o.author), c.Revisit
		ready.Prepare(&f)
		if err := fn(f); err != nil {
			return &ended{err}
		}
		return nil
	})
}

// readTexts reads what was derived of the segment, if anything was.
func (s *segment) readTexts(ctx context.Context) error {
	s.texts = map[capture]text{}
	err := derive.Read(ctx, s.Store, s.at, derive.Text, s.m.Segment(), func(d *derive.Document) error {
		s.texts[capture{d.URL, d.Date.Unix()}] = text{d.Title, d.Language, d.Author, d.Text}
		return nil
	})
	if errors.Is(err, archive.ErrNotFound) {
		return nil
	}
	if err != nil && archive.Damaged(err) && ctx.Err() == nil { // the pages themselves say it, too
		s.complain(fmt.Errorf("segment %s: texts that were derived: %w", s.m.Segment(), err))
		s.texts = map[capture]text{}
		return nil
	}
	s.derived = err == nil
	return err
}

// ofPage is what the web objects of a page say of it.
type ofPage struct {
	types  []string
	author string // of the first that has one
}

func (s *segment) objects(ctx context.Context) (map[capture]ofPage, error) {
	found := map[capture]ofPage{}
	if s.m.Objects == nil {
		return found, nil
	}
	err := archive.ReadObjects(ctx, s.Store, s.m.Objects.Key, func(o archive.WebObject) error {
		at := capture{o.URL, o.Date.Unix()}
		p := found[at]
		if len(p.types) < maxTypes && !slices.Contains(p.types, o.Type) {
			p.types = append(p.types, o.Type)
		}
		p.author = cmp.Or(p.author, o.Properties.Get("author"))
		found[at] = p
		return nil
	})
	return found, err
}

// facts are those of a capture. With an error it has no text.
func (s *segment) facts(ctx context.Context, c *derive.Capture) (f selection.Facts, err error) {
	host := urls.HostOf(c.URL)
	f = selection.Facts{
		URL: c.URL, Host: host, Site: urls.PLD(host), Crawl: s.at.Name, Date: c.Date, Status: c.Status, MIME: c.MIME, Score: c.Score,
		Application: c.Application, Level: c.Level, Language: c.Language, Title: c.Title, Anchors: s.anchors[c.URL],
	}
	if of := s.answers[answered{c.URL, c.Digest}]; c.Revisit && c.Status == 0 && of.known {
		f.Status = of.status
		if f.Score < 0 {
			f.Score = of.score
		}
	}
	if t, found := s.texts[capture{c.URL, c.Date.Unix()}]; found {
		f.Title, f.Language, f.Author, f.Text = cmp.Or(t.title, f.Title), cmp.Or(t.language, f.Language), t.author, t.text
	} else if !s.derived || c.Revisit { // a revisit says what its original says
		d, errPage := c.Page(ctx)
		if err = errPage; err == nil {
			f.Title, f.Language, f.Text = cmp.Or(f.Title, d.Title), cmp.Or(f.Language, d.Language), strings.Join(d.Blocks, "\n")
			if c.Revisit {
				f.MIME = d.MIME
			}
		}
	}
	f.Print = selection.PrintOf(f.Text)
	return f, err
}
