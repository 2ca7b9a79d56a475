package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/browser"
	"github.com/muninn-archive/muninn/internal/browsertest"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/fixture"
)

// TestReplayCaptures: captures that are chosen at random from the catalogue of an archive show in the replay of `muninn serve` the titles and texts, of the page and of its
// frames, that Chromium shows of the records themselves, below a banner with the right time and crawl; nothing is asked for outside of the room, and nothing that is archived is
// missing. MUNINN_REPLAY_ARCHIVE names the archive, MUNINN_REPLAY_SEED the seed, MUNINN_REPLAY_CAPTURES how many captures.
func TestReplayCaptures(t *testing.T) {
	where, folder := os.Getenv("MUNINN_REPLAY_ARCHIVE"), os.Getenv("MUNINN_REPLAYWEBPAGE")
	if where == "" || folder == "" {
		t.Skip("MUNINN_REPLAY_ARCHIVE names no archive, or MUNINN_REPLAYWEBPAGE no folder of ReplayWeb.page: `make test-replay-captures` sets both")
	}
	chromium := fixture.Chromium(t, browser.Find)
	store, err := archive.OpenReader(t.Context(), where, archive.S3{
		Endpoint: os.Getenv("MUNINN_S3_ENDPOINT"), AccessKey: os.Getenv("MUNINN_S3_ACCESS_KEY"), SecretKey: os.Getenv("MUNINN_S3_SECRET_KEY"), Region: "us-east-1",
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &roomReplay{t: t, records: readRecords(t, store)}
	said, _ := startServing(t, nil, "--archive", where, "--data", t.TempDir(), "--replay", folder, "--listen", "127.0.0.1:0", "--replay-listen", "127.0.0.1:0")
	r.serving = said
	waitForViews(t, r.Room)
	list, all := choose(t, r.Room, environmentNumber(t, "MUNINN_REPLAY_CAPTURES", 200))

	r.gate = &gatekeeper{to: &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}}, hosts: map[string]bool{hostOf(t, r.Room): true, hostOf(t, r.Replay): true}}
	r.shown = behind(t, chromium, r.gate)
	r.plain = behind(t, chromium, r.records)
	r.gate.check(t, r.shown)
	begun := time.Now()
	for _, c := range list {
		r.compare(c)
	}
	r.gate.mu.Lock()
	defer r.gate.mu.Unlock()
	for _, outside := range r.gate.outside {
		t.Errorf("outside of the room: %s", outside)
	}
	if r.same < len(list) {
		t.Errorf("%d of %d captures differ", len(list)-r.same, len(list))
	}
	t.Logf("%s: %d of %d captures that browsers show as texts, in %v", where, len(list), all, time.Since(begun).Round(time.Second))
	t.Logf("%d show the same texts (%d documents, %d characters; %d lead to another page, %d are revisits, %d have a status of 400 or more), %d differ",
		r.same, r.documents, r.characters, r.moved, r.revisits, r.failures, len(list)-r.same)
	t.Logf("at the network: %d requests to the room and its replay, %d to others, and %d that Chromium makes for itself; in the pages: %d requests for archived URLs, of which %d are not archived, and %d for others",
		r.gate.passed, len(r.gate.outside), r.gate.own, r.archived, r.absent, r.outside)
}

// behind starts a browser behind a proxy.
func behind(t *testing.T, chromium string, proxy http.Handler) *browsertest.Browser {
	t.Helper()
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	b, err := browsertest.StartBehind(t.Context(), chromium, server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func hostOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

func environmentNumber(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// cataloged is a line of the CDX server.
type cataloged struct{ Timestamp, URL, MIME, Status, Digest, Crawl string }

func (c cataloged) redirects() bool { return strings.HasPrefix(c.Status, "3") }

// textKinds are the media types that browsers show as a document with a text.
var textKinds = []string{"text/html", "application/xhtml+xml", "text/plain"}

// choose chooses captures by the seed, of those that a browser shows as a text: documents whatever their status, revisits of them, and redirects, which lead to one.
func choose(t *testing.T, room string, n int) (list []cataloged, all int) {
	t.Helper()
	var captures []cataloged
	texts := map[string]bool{} // digests
	lines := bufio.NewScanner(bytes.NewReader(getAs(t, room+"/cdx?output=json&url=*", "application/json")))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c cataloged
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		captures = append(captures, c)
		texts[c.Digest] = texts[c.Digest] || slices.Contains(textKinds, c.MIME)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for _, c := range captures {
		if strings.HasPrefix(c.URL, "http:") && (slices.Contains(textKinds, c.MIME) || c.redirects() || c.MIME == "warc/revisit" && texts[c.Digest]) {
			list = append(list, c)
		}
	}
	seed := environmentNumber(t, "MUNINN_REPLAY_SEED", 0)
	if seed == 0 {
		seed = int(rand.Int32())
	}
	rand.New(rand.NewPCG(uint64(seed), 0)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	all = len(list)
	list = list[:min(n, all)]
	t.Logf("MUNINN_REPLAY_SEED=%d: %d captures of %d, %d in the catalogue", seed, len(list), all, len(captures))
	return list, all
}

// roomReplay compares captures in the replay of the room with their records.
type roomReplay struct {
	serving
	t            *testing.T
	records      *records
	gate         *gatekeeper
	shown, plain *browsertest.Browser // of the room's replay; of the records

	same, documents, characters, moved, revisits, failures int
	archived, absent, outside                              int // requests that pages made
}

// inPlay is the form of the URLs by which the replay shows captures: a time, a kind, the archived URL.
var inPlay = regexp.MustCompile(`^/w/room-\d+/(\d*)(?:[a-z]+_)?/(.*)$`)

// compare compares a capture.
func (r *roomReplay) compare(c cataloged) {
	r.t.Helper()
	at, err := time.Parse(catalogue.Timestamp, c.Timestamp)
	if err != nil {
		r.t.Fatal(err)
	}
	r.records.begin(at)
	want, err := r.plain.Open(c.URL)
	if err != nil {
		r.t.Errorf("%s %s: its record in a browser: %v", c.Timestamp, c.URL, err)
		return
	}
	wanted := textsOf(want.Documents)
	begun, last, changed, equal := time.Now(), "", time.Now(), 0
	got, err := r.shown.Await(r.Room+"/replay?at="+c.Timestamp+"&url="+url.QueryEscape(c.URL), func(list []browsertest.Document) bool {
		if len(list) < 3 || !inPlay.MatchString(strings.TrimPrefix(list[2].URL, r.Replay)) {
			return false
		}
		now := textsOf(list[2:])
		if now != last {
			last, changed, equal = now, time.Now(), 0
		}
		if now == wanted && r.shown.Quiet() {
			equal++
		}
		return equal > 1 || time.Since(changed) > patience && time.Since(begun) > patience
	})
	if err != nil {
		r.t.Errorf("%s %s: replay: %v: %+v", c.Timestamp, c.URL, err, got.Documents)
		return
	}
	faults := r.requests(at, got.Requests)
	if found := textsOf(got.Documents[2:]); found != wanted {
		faults = append(faults, "texts differ: "+firstDifference(wanted, found))
	}
	if says := r.banner(c, at, want.Documents[0].URL); !strings.Contains(got.Documents[0].Text, says) {
		faults = append(faults, fmt.Sprintf("the banner does not say %q: %q", says, got.Documents[0].Text))
	}
	if len(faults) > 0 {
		r.t.Errorf("%s %s (%s %s, crawl %s): %s", c.Timestamp, c.URL, c.Status, c.MIME, c.Crawl, strings.Join(faults, "; "))
		return
	}
	r.count(c, want.Documents, wanted)
}

// banner is what the banner says of a capture, or of that to which it has led.
func (r *roomReplay) banner(c cataloged, at time.Time, shown string) string {
	const form = "as it was at 2006-01-02 15:04:05 UTC, archived by crawl "
	if browsertest.Canonical(shown) == browsertest.Canonical(c.URL) {
		return at.Format(form) + c.Crawl
	}
	r.moved++
	e, _ := r.records.nearest(shown, at)
	return e.Date.UTC().Format(form)
}

// patience is how long a replay is waited for that does not show what it should, after its last change.
const patience = 4 * time.Second

func (r *roomReplay) count(c cataloged, list []browsertest.Document, texts string) {
	r.same++
	r.documents += len(list)
	r.characters += len([]rune(texts))
	if c.MIME == "warc/revisit" {
		r.revisits++
	}
	if c.Status >= "400" {
		r.failures++
	}
}

// requests looks at the requests of a replay: each goes to the room, and what is archived has an answer.
func (r *roomReplay) requests(at time.Time, list []browsertest.Request) (faults []string) {
	for _, q := range list {
		rest, in := strings.CutPrefix(q.URL, r.Replay)
		if !in {
			if !strings.HasPrefix(q.URL, r.Room+"/") {
				r.outside++
				faults = append(faults, "it asks for "+q.URL)
			}
			continue
		}
		m := inPlay.FindStringSubmatch(rest)
		if m == nil {
			continue
		}
		r.archived++
		e, is := r.records.nearest(m[2], at)
		switch {
		case !is:
			r.absent++
		case q.Status != e.Status && q.Status >= http.StatusBadRequest && !e.Revisit:
			faults = append(faults, fmt.Sprintf("%s is archived with status %d, and answered with %d %s", m[2], e.Status, q.Status, q.Error))
		}
	}
	return faults
}

// textsOf is the titles and texts of documents, without the white space between words.
func textsOf(list []browsertest.Document) string {
	var out strings.Builder
	for _, d := range list {
		_, _ = fmt.Fprintf(&out, "[%s]\n%s\n", strings.Join(strings.Fields(d.Title), " "), strings.Join(strings.Fields(d.Text), " "))
	}
	return out.String()
}

// firstDifference is where two texts differ.
func firstDifference(want, got string) string {
	a, b := []rune(want), []rune(got)
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	part := func(r []rune) string { return string(r[max(0, min(i, len(r))-40):min(len(r), i+80)]) }
	return fmt.Sprintf("at %d of %d characters %q; want %q", i, len(a), part(b), part(a))
}
