package aah

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/kb"
)

// TestAbout: an article about an application, which shows the source of its pages and cites their credit line, is not taken for a page of it. Its host and software are unknown.
func TestAbout(t *testing.T) {
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	h := New(base, DefaultLimits())
	link := regexp.MustCompile(`@href(?:\s*=\s*|, )'([^']+)'`)
	var taken []string
	for _, app := range base.Applications {
		if app.Category == "generic" {
			continue
		}
		var listing, prose strings.Builder
		marks := app.Detect
		for _, v := range app.Versions {
			marks = append(marks[:len(marks):len(marks)], v.Detect...)
		}
		for _, m := range marks {
			if m.Text != "" {
				listing.WriteString(m.Text + "\n")
				prose.WriteString("<p>Look for " + html.EscapeString(m.Text) + " in the source.</p>\n")
			}
			if m.XPath == nil || !strings.Contains(m.XPath.String(), "Powered") {
				continue
			}
			for _, found := range link.FindAllStringSubmatch(m.XPath.String(), -1) {
				to := found[1]
				if !strings.Contains(to, "://") {
					to = "https://" + to
				}
				credit := `Powered by <a href="` + to + `">` + app.Name + `</a>`
				prose.WriteString("<p>At the end of each page stands " + credit + ", and on some <a href='" + to + "'>Powered by " + app.Name + "</a>.</p>\n<ul><li>" + credit + "</li></ul><pre>" + credit + "</pre>\n")
			}
		}
		for _, x := range app.Examples {
			listing.WriteString(x.Page + "\n")
		}
		body := "<!DOCTYPE html><title>How to know " + app.Name + "</title><main><article><h1>How to know " + app.Name + "</h1><p>Crawlers must know what they are on.</p>" +
			prose.String() + "<pre><code>" + html.EscapeString(listing.String()) + "</code></pre></article></main>"
		if d := read(h, "http://about-software.test/"+strings.ToLower(strings.ReplaceAll(app.Name, " ", "-"))+"-explained/", body, Input{}); d.Application == app.Name {
			taken = append(taken, app.Name+" by "+d.Rule)
		}
	}
	if len(base.Applications) < 40 || len(taken) > 0 {
		t.Errorf("of %d applications, articles about %d are taken for them: %q", len(base.Applications), len(taken), taken)
	}
}
