package starter

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/room"
)

// TestSearch: the command finds what `serve` would find, with counts if they are asked for; a second time nothing is built.
func TestSearch(t *testing.T) {
	dir, data := selectable(t), t.TempDir()
	search := func(args ...string) (f found) {
		t.Helper()
		code, printed, said := call(t, append([]string{"search", "--json", "--data", data, dir}, args...)...)
		if code != cli.ExitOK {
			t.Fatalf("%q: %d: %s", args, code, said)
		}
		parsed(t, printed, &f)
		return f
	}
	all := search("raven", "--limit", "5", "--facets", "--histogram")
	if all.Total != 12 || len(all.Hits) != 5 || len(all.Histogram) != 1 || all.By != "month" || all.Histogram[0] != (foundCount{"2026-01", 12}) {
		t.Errorf("%+v", all)
	}
	h := all.Hits[0]
	if !strings.HasPrefix(h.URL, "https://birds.example/") || h.Crawl != "c" || h.Date.IsZero() || h.Score != 0.25 || h.Rank <= 0 || !strings.HasPrefix(h.Title, "Page ") || len(h.Snippet) == 0 || h.Object != -1 {
		t.Errorf("%+v", h)
	}
	seen := map[string]bool{}
	for _, offset := range []string{"0", "5", "10"} {
		for _, h := range search("raven", "--limit", "5", "--offset", offset).Hits {
			seen[h.URL] = true
		}
	}
	if len(seen) != 12 {
		t.Errorf("%d different hits on three pages, want 12", len(seen))
	}
	if got := search("raven", "--limit", "5", "--offset", "3"); len(got.Hits) != 5 || got.Hits[0].URL != all.Hits[3].URL || got.Facets != nil {
		t.Errorf("%+v", got)
	}
	if got := search("of OR the OR a", "--facets"); len(got.Facets) == 0 || got.Facets[0].Name != "domain" || len(got.Facets[0].Values) != 2 {
		t.Errorf("%+v", got.Facets)
	}
	if got := search("heron"); got.Total != 0 || got.Hits == nil {
		t.Errorf("%+v", got)
	}
	code, printed, said := call(t, "search", dir, "site:soup.example leek", "--data", data)
	if code != cli.ExitOK || !strings.Contains(printed, "12 found; 1 to 10:") || !strings.Contains(printed, "https://soup.example/") || !strings.Contains(printed, "score 0.25") || strings.ContainsRune(printed+said, '\x1b') {
		t.Errorf("%d: %q %s", code, printed, said)
	}
}

// TestSearchWrong: a fault of a query points at the place; views that are in use are named, with what to do.
func TestSearchWrong(t *testing.T) {
	dir, data := selectable(t), t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{dir}, cli.ExitUsage, "give an archive"},
		{[]string{dir, "raven date:x"}, cli.ExitUsage, "query, character 12: "},
		{[]string{dir, "raven date:x"}, cli.ExitUsage, "\n  raven date:x\n             ^"},
		{[]string{dir, "x", "--limit", "0"}, cli.ExitUsage, "--limit, --offset: the limit must be 1"},
		{[]string{dir, "x", "--limit", "10", "--offset", "9999"}, cli.ExitUsage, "only the first 10000 hits"},
		{[]string{filepath.Join(data, "none"), "x"}, cli.ExitUsage, "there is no folder"},
		{[]string{t.TempDir(), "x", "--data", data}, cli.ExitFailed, "there is no crawl in"},
		{[]string{dir, "x", "--server", "http://127.0.0.1:1"}, cli.ExitUsage, "--server: give the query alone"},
		{[]string{"x", "--server", "127.0.0.1:1"}, cli.ExitUsage, "must be an address such as"},
	} {
		code, _, said := call(t, append([]string{"search"}, c.args...)...)
		if code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%q: exit code %d: %s, want %d and %q", c.args, code, said, c.code, c.says)
		}
	}
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := roomOptions{data: data}
	folder, err := o.folder([]archive.Store{store})
	if err != nil {
		t.Fatal(err)
	}
	release, err := lockData(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	code, _, said := call(t, "search", dir, "raven", "--data", data)
	if code != cli.ExitFailed || !strings.Contains(said, folder+" are open in another muninn") || !strings.Contains(said, "--server http://127.0.0.1:8480") || !strings.Contains(said, "--data FOLDER") {
		t.Errorf("%d: %s", code, said)
	}
}

// roomServing is a reading room's search of an archive, behind a token.
func roomServing(t *testing.T, dir, token string) *httptest.Server {
	t.Helper()
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := roomOptions{data: t.TempDir(), derive: true}
	v, _, free, err := o.open(t.Context(), []archive.Store{store}, (&globals{}).logger(t.Output()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = free() })
	if err := v.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	local := newLocalAsker(v)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.URL.Path != "/search" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		status, body, err := local(context.WithoutCancel(r.Context()), r.URL.Query())
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	return server
}

// TestSearchServer: a server gives the same answer as the views do; without its token, or if it is no room, the command says what is wrong.
func TestSearchServer(t *testing.T) {
	dir := selectable(t)
	const token = "0123456789abcdef"
	server := roomServing(t, dir, token)
	t.Setenv("MUNINN_ROOM_TOKEN", token)
	ask := []string{"raven -nest OR crow", "--facets", "--histogram", "--limit", "7", "--offset", "2", "--json"}
	code, remote, said := call(t, append([]string{"search", "--server", server.URL + "/"}, ask...)...)
	if code != cli.ExitOK {
		t.Fatalf("%d: %s", code, said)
	}
	_, local, _ := call(t, append([]string{"search", "--data", t.TempDir(), dir}, ask...)...)
	if remote != local {
		t.Errorf("the server answers\n%s\nand the views\n%s", remote, local)
	}
	t.Setenv("MUNINN_ROOM_TOKEN", "another")
	if code, _, said := call(t, "search", "raven", "--server", server.URL); code != cli.ExitFailed || !strings.Contains(said, "set MUNINN_ROOM_TOKEN") {
		t.Errorf("%d: %s", code, said)
	}
	t.Setenv("MUNINN_ROOM_TOKEN", token)
	if code, _, said := call(t, "search", "raven", "--server", server.URL+"/other"); code != cli.ExitFailed || !strings.Contains(said, "answers 404") {
		t.Errorf("%d: %s", code, said)
	}
	server.Close()
	if code, _, said := call(t, "search", "raven", "--server", server.URL); code != cli.ExitFailed || !strings.Contains(said, "ask the reading room at") {
		t.Errorf("%d: %s", code, said)
	}
}

// TestSearchAnswers: an answer that is no room's is refused, and what a room says is wrong is said, without control characters.
func TestSearchAnswers(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		usage  bool
		says   string
	}{
		{200, "<html>", false, "no reading room"},
		{400, `{"error":{"at":2,"message":"no \u001b[31m"}}`, true, "query, character 3: no  [31m"},
		{400, `{"status":400,"error":"too far"}`, true, "too far"},
		{500, `{"status":500,"error":"damaged"}`, false, "answers 500: damaged"},
		{503, ``, false, "answers 503 Service Unavailable"},
		{302, ``, false, "answers 302"},
	} {
		s := searching{limit: 1}
		_, err := s.found(t.Context(), func(context.Context, url.Values) (int, []byte, error) { return c.status, []byte(c.body), nil }, "raven")
		if err == nil || cli.IsUsage(err) != c.usage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d %s: %v, want %q", c.status, c.body, err, c.says)
		}
	}
}

// TestSearchHostile: what people see of an answer has no control character, wherever it comes from.
func TestSearchHostile(t *testing.T) {
	const bad = "a\x1b]0;x\x07\u202eb"
	f := found{
		Total: 9, Hits: []room.Hit{{Link: room.Link{URL: bad, Crawl: bad}, Title: bad, Type: bad, Author: bad, Snippet: []room.Fragment{{Text: bad}}}},
		Facets: []foundFacet{{Name: bad, Values: []foundCount{{bad, 1}}, Others: 3}}, Histogram: []foundCount{{bad, 2}}, By: bad,
	}
	var out strings.Builder
	f.write(&out)
	if strings.ContainsAny(out.String(), "\x1b\x07\u202e") || !strings.Contains(out.String(), "3  others") {
		t.Errorf("%q", out.String())
	}
}
