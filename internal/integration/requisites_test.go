package integration

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

var lackingLines = regexp.MustCompile(`\r\nmuninn-requisites-missing: (\d+)\r\nmuninn-requisites-queued: (\d+)\r\n`)

// TestRequisites: a page's requisites at its host are asked for before the next page of the host, also those of its style sheets; what pages share is asked
// for once. A worker that is stopped in the midst of them continues: nothing is asked for twice, and all of it is archived. Images that scripts name are fetched, too, and are no
// pages in the budget. The host has no icon, and says so to one request: that is an answer, and no error. A page that asks robots not to follow its links has its requisites, one that a rule rejects when it is fetched has none.
func TestRequisites(t *testing.T) {
	t.Parallel()
	const pages = 9
	held, resume, once := make(chan bool), make(chan bool), sync.Once{}
	web := servePlain(t, func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		w.Header().Set("Content-Type", "text/html")
		switch n := strings.TrimPrefix(path, "/page"); {
		case path == "/":
			for i := range pages - 1 {
				_, _ = fmt.Fprintf(w, "<a href=/page%d>ravens</a>", i)
			}
		case n != path:
			if n == "3" {
				once.Do(func() { close(held) }) // a second request is a fault that is found below
				<-resume
			}
			switch n {
			case "5":
				w.Header().Set("X-Robots-Tag", "nofollow")
			case "6":
				w.Header().Set("Content-Type", "application/xhtml+xml")
			}
			_, _ = fmt.Fprintf(w, "<link rel=stylesheet href=/all.css><link rel=stylesheet href=/own%s.css><img src=/x%s.png><img src=http://other.test:%s/%s.png><script>late = '/late%s.jpg'</script>ravens", n, n, portOf(r), n, n)
		case strings.HasSuffix(path, ".css"):
			w.Header().Set("Content-Type", "text/css")
			_, _ = fmt.Fprintf(w, "body { background: url(%s.jpg) }", path)
		default:
			w.Header().Set("Content-Type", "image/png")
			_, _ = fmt.Fprint(w, path)
		}
	}, "127.96.0.1", "127.96.0.2")
	server := StartServer(t)
	conf := web.config(t, server, map[string]string{"web.test": "127.96.0.1", "other.test": "127.96.0.2"})
	d := web.definition("requisites", "web.test/")
	d.Scope.Within, d.Budget.Pages, d.Budget.PerPLD = crawl.WithinHost, pages+3, pages+1
	d.Scope.Rules = []crawl.Rule{{Reject: &crawl.Conditions{MIME: crawl.Texts{"application/xhtml+xml"}}}}
	first := StartWorker(t, conf)
	StartCrawl(t, server.Client, d)
	<-held
	first.StopWhile(func() { close(resume) })
	StartWorker(t, conf)
	result := Result(t, server.Client, d.Name, CrawlTime)
	if n := result.Totals; n.Pages != pages || n.Requisites != n.RequisitesArchived || n.Requisites != int64(3+4*(pages-2)) || n.Errors != 0 || n.SpeculativeArchived != pages-3 || n.Requests != pages {
		t.Errorf("%q: %+v", result.Reason, n)
	}
	asked, page, needs, late := map[string]bool{}, "", map[string]bool{}, []string{}
	for _, r := range web.requests() {
		if asked[r.host+r.path] {
			t.Errorf("%s%s is asked for twice", r.host, r.path)
		}
		asked[r.host+r.path] = true
		if delete(needs, r.path); r.host == "web.test" && (r.path == "/" || strings.HasPrefix(r.path, "/page")) {
			if len(needs) > 0 { // a lane that was cut off right after a page leaves what it needs to the frontier
				late = append(late, fmt.Sprintf("%s is asked for, and %s still needs %v", r.path, page, needs))
			}
			if n, is := strings.CutPrefix(r.path, "/page"); is {
				page, needs = r.path, nil
				if n == "6" {
					continue
				}
				needs = map[string]bool{"/own" + n + ".css": true, "/own" + n + ".css.jpg": true, "/x" + n + ".png": true}
			}
		}
	}
	if len(late) > 1 {
		t.Errorf("%q", late)
	}
	report := Check(t, conf.Archive)
	if len(report.Pages) != len(asked) || len(asked) != pages+3+4*(pages-2)+pages-3 {
		t.Errorf("%d URLs are archived, %d were asked for", len(report.Pages), len(asked))
	}
	// The image of a page at the other host comes later. The page at which the worker was stopped may lack more: its lane was cut off before what it needs.
	// Of the page that a rule rejects, nothing is queued.
	lacking, cut, rejected := 0, 0, 0
	files, _ := filepath.Glob(filepath.Join(conf.Archive, d.Name, "data", "*.warc.gz"))
	for _, file := range files {
		for _, found := range lackingLines.FindAllStringSubmatch(unpacked(t, file), -1) {
			switch missing, queued := found[1], found[2]; {
			case queued == "0":
				rejected++
				continue
			case missing != queued:
				t.Errorf("a page lacks %s requisites, and %s of them are queued", missing, queued)
			case missing != "1":
				cut++
			}
			lacking++
		}
	}
	if lacking < pages-2 || lacking > pages || cut > 1 || rejected != 1 {
		t.Errorf("%d of %d pages say that a requisite is missing and queued, %d that more than one is, %d that one is missing and none is queued", lacking, pages, cut, rejected)
	}
	for url, n := range report.Pages {
		if n != 1 {
			t.Errorf("%s is archived %d times", url, n)
		}
	}
}

func portOf(r *http.Request) string {
	_, port, _ := strings.Cut(r.Host, ":")
	return port
}

func unpacked(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
