package page

import (
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Redirect is the page record of a redirect: its one outlink; false if it leads nowhere, or to itself.
func Redirect(url string, status int, location string) (crawl.Page, bool) {
	base, err := urls.NewResolver(url)
	if err != nil {
		return crawl.Page{}, false
	}
	target, err := base.Resolve(location)
	if err != nil || target.String() == url {
		return crawl.Page{}, false
	}
	return crawl.Page{URL: url, Status: status, Links: []crawl.Outlink{
		{URL: target.String(), Hop: crawl.HopRedirect, Context: "Location", Block: -1},
	}}, true
}
