package text

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing/fstest"
	"time"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/dates"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

// Muninn is the helper as a system. Each page is the first of its host unless one helper is shared by all.
func Muninn(name string, base *kb.Base, shared bool) System {
	limits := aah.DefaultLimits()
	helper := aah.New(base, limits)
	limits.Hosts = 1
	return System{Name: name, Body: true, Title: true, Author: true, Date: true, Extract: func(p *Page) (Answer, error) {
		h := helper
		if !shared {
			h = aah.New(base, limits)
		}
		d := p.document()
		return answerOf(d, h.Apply(d, aah.Input{})), nil
	}}
}

// GenericBase is the layer of a base that knows no application, and its categories: what is extracted from pages of applications that
// the base has no rules for.
func GenericBase(files fs.FS) (*kb.Base, error) {
	few := fstest.MapFS{}
	err := fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Base(name) != "generic.xml" && !strings.HasPrefix(name, "categories/") {
			return err
		}
		raw, err := fs.ReadFile(files, name)
		few[name] = &fstest.MapFile{Data: raw}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the generic layer: %w", err)
	}
	return kb.Load(few)
}

// answerOf is what the helper says of a page. The body is what the topic is looked for in: the bodies of the objects; those of
// comments only if there are no others; without bodies the blocks that are marked as content; without marks all blocks.
func answerOf(d *page.Document, found crawl.Findings) (a Answer) {
	main := mainOf(found.Objects)
	if found.Terminal || found.Content == nil {
		a.Body = bodies(found.Objects, main)
	}
	if a.Body == "" {
		var blocks []string
		for i, b := range d.Blocks {
			if found.Content == nil || found.Content[i] {
				blocks = append(blocks, b)
			}
		}
		a.Body = strings.Join(blocks, "\n")
	}
	author, published := d.Byline()
	a.Title = d.Title
	if list := found.Level != "" && !found.Terminal; main != nil && !list { // what a list is called is not what its first entry is
		a.Title = first(main.Properties.Get("title"), d.Title)
		author, published = first(strings.Join(main.Properties.All("author"), ", "), author), first(main.Properties.Get("published"), published)
	}
	a.Author = author
	if at, precision, ok := dates.Read(published, time.Time{}); ok && precision >= dates.Day {
		a.Published = at
	}
	return a
}

// mainOf is the object that a page is for: the first article with a body, else the first other object with a body that is no comment,
// else the first object; nil: there is none.
func mainOf(objects []crawl.Object) *crawl.Object {
	for _, fits := range []func(*crawl.Object) bool{
		func(o *crawl.Object) bool { return o.Type == "article" && o.Properties.Get("body") != "" },
		func(o *crawl.Object) bool { return o.Type != "comment" && o.Properties.Get("body") != "" },
		func(*crawl.Object) bool { return true },
	} {
		for i := range objects {
			if fits(&objects[i]) {
				return &objects[i]
			}
		}
	}
	return nil
}

// bodies joins the bodies of the objects of a page. Comments on an article are not part of it; those of a thread are.
func bodies(objects []crawl.Object, main *crawl.Object) string {
	var list []string
	for i := range objects {
		o := &objects[i]
		if o.Type == "comment" && main != nil && main.Type != "comment" && main.Type != "post" && main.Type != "question" {
			continue
		}
		if body := o.Properties.Get("body"); body != "" {
			list = append(list, body)
		}
	}
	return strings.Join(list, "\n")
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
