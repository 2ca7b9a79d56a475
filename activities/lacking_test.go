package activities

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/spool"
)

var lacksIn = regexp.MustCompile(`\r\nmuninn-requisites-missing: (\d+)\r\nmuninn-requisites-queued: (\d+)\r\n`)

// TestLacking: a page says how many of the URLs that it embeds are not in the archive when it is archived, also those that are left out because it embeds too many, and how many of them are
// queued. All are among its outlinks. The crawl counts those that were left out, also if its working files were lost: then its requisites are not said to be whole.
func TestLacking(t *testing.T) {
	for _, recovered := range []bool{false, true} {
		t.Run(fmt.Sprint("recovered ", recovered), func(t *testing.T) {
			r := newOpenedRig(t, func(q *http.Request) (int, string, string) {
				switch q.URL.Path {
				case "/":
					return 200, "Content-Type: text/html\r\n", `<link rel=icon href=data:,><img src=/1.png><img src=/secret.png><img src=http://b.example/3.png><img src=/4.png><img src=/1.png><img src=/5.png><img src=/6.png><img src=/7.png>`
				case "/two":
					return 200, "Content-Type: text/html\r\n", `<link rel=icon href=data:,><img src=/1.png><img src=/5.png>`
				}
				return 200, "Content-Type: image/png\r\n", q.URL.Path
			})
			r.robots = "User-agent: *\nDisallow: /secret\n"
			four := int64(4)
			r.edit = func(d *crawl.Definition) {
				d.Browser, d.Budget.Requisites = crawl.BrowserNever, &four
				d.Seeds = append(d.Seeds, crawl.Seed{URL: rigSeed + "two"})
			}
			in := r.run()
			_, err := call[ProcessResult](r.rig, r.Process, in)
			r.must(err)
			if recovered {
				r.must(r.Spool.Batch(in.Crawl, in.Batch).Remove())
			}
			r.must(r.do(r.Commit, in))
			s, err := r.Frontier.Crawl(rigCrawl).Status()
			r.must(err)
			// 6.png and 7.png are left out; 5.png is fetched for another page
			if n := s.Totals; n.RequisitesCut != 2 || n.RequisitesArchived != 3 || n.RequisiteShare() >= 1 || !strings.HasPrefix(n.RequisitesText(), "at least ") {
				t.Errorf("%q: %+v", n.RequisitesText(), n)
			}
			r.conclude()
			r.check(r.dir)
			files, err := filepath.Glob(filepath.Join(r.dir, "*", "data", "*.warc.gz"))
			r.must(err)
			lacks, outlinks := map[string]string{}, 0
			for _, file := range files {
				r.must(archive.ReadWARC(file, 0, func(c archive.Captured) (bool, error) {
					if c.Kind != "metadata" {
						return true, nil
					}
					var b strings.Builder
					_, err := io.Copy(&b, c.Block)
					for _, found := range lacksIn.FindAllStringSubmatch(b.String(), -1) {
						lacks[c.URL] = found[1] + " missing, " + found[2] + " queued"
					}
					if c.URL == rigSeed {
						outlinks = strings.Count(b.String(), "\r\noutlink: ")
					}
					return true, err
				}))
			}
			// secret.png is disallowed, 3.png is queued, 6.png and 7.png are left out
			if len(lacks) != 1 || lacks[rigSeed] != "4 missing, 1 queued" || outlinks != 7 {
				t.Errorf("the pages lack %v; %d outlinks", lacks, outlinks)
			}
		})
	}
}

// TestLackingAgain: what an earlier run has archived is not missing where a page is archived again before it, also if the batch has given it back.
func TestLackingAgain(t *testing.T) {
	r := newOpenedRig(t, func(*http.Request) (int, string, string) { return 200, "Content-Type: text/html\r\n", "<p>ravens" })
	r.robots = "User-agent: *\nDisallow:\n"
	in := r.run()
	_, err := call[ProcessResult](r.rig, r.Process, in)
	r.must(err)
	r.must(r.do(r.Commit, in))
	var page pipeline.Judged
	page.Links = []crawl.Outlink{{URL: rigSeed, Hop: crawl.HopEmbed}, {URL: rigSeed + "new.png", Hop: crawl.HopEmbed}}
	for kind, queued := range map[crawl.OutcomeKind]int{crawl.OutcomeReturned: 1, crawl.OutcomeRetry: 1, crawl.OutcomeFailed: 0} {
		var entries []spool.Entry
		for i := range page.Links {
			e := spool.Entry{}
			e.URL, e.Kind, e.Outcome.Kind = page.Links[i].URL, crawl.ExchangePage, kind
			entries = append(entries, e)
		}
		lacks, err := fetchedBy(r.Frontier.Crawl(rigCrawl).URLs(), entries).lacking(&page)
		r.must(err)
		if want := (archive.Lacking{Missing: 1, Queued: queued}); lacks != want {
			t.Errorf("a page that embeds %v lacks %+v, want %+v, if the batch calls them %v", page.Links, lacks, want, kind)
		}
	}
}
