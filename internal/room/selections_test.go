package room_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/room"
	"github.com/muninn-archive/muninn/internal/selection"
)

// birds is an archive of pages about ravens and about soup on three hosts; a part of them reads alike.
func birds(t *testing.T) *rig {
	r := newRig(t)
	var list []exchange
	for i := range 24 {
		host, text := "birds.example", "The raven and the crow have a nest of twigs with black feathers near the hills."
		if i%2 == 1 {
			host, text = "soup.example", "A pot of hot water with an onion and a leek stands on the stove in the kitchen."
		}
		list = append(list, exchange{url: fmt.Sprintf("http://%s/%d", host, i), title: fmt.Sprintf("Page %d", i), body: fmt.Sprintf("<title>Page %d</title><p>%s Number %d.", i, text, i)})
	}
	for i := range 3 {
		list = append(list, exchange{url: fmt.Sprintf("http://copies.example/%d", i), title: "A copy", body: "<title>A copy</title><p>One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty words and more of them."})
	}
	r.segment("c", "birds.example-1@w.1", 1, list...)
	return r
}

func decidedOne(v selection.Verdict, urls ...string) (e selection.Entry) {
	for _, u := range urls {
		e.Decisions = append(e.Decisions, selection.Decision{URL: u, Verdict: v})
	}
	return e
}

// selectionPages are the pages of the selection of birds.
var selectionPages = []string{
	"/selections?", "/selection?name=ravens", "/selection/groups?name=ravens&kind=host", "/selection/groups?name=ravens&kind=app", "/selection/groups?name=ravens&kind=near", "/selection/group?name=ravens&group=host:birds.example",
	"/selection/ask?name=ravens", "/selection/history?name=ravens",
}

func birdsSelected(t *testing.T) *selecting {
	return selectingOf(t, birds(t),
		selection.Entry{Rules: []selection.Rule{{Query: "onion host:nowhere.example", Verdict: selection.Keep}}},
		selection.Entry{Rules: []selection.Rule{{Query: `"number 21"`, Verdict: selection.Drop}}, Why: "a test of <b>"},
		decidedOne(selection.Keep, "http://birds.example/0", "http://birds.example/2", "http://birds.example/4", "http://birds.example/6", "http://birds.example/8"),
		decidedOne(selection.Drop, "http://soup.example/1", "http://soup.example/3", "http://soup.example/5", "http://soup.example/7", "http://soup.example/9"),
	)
}

// TestSelectionPages: pages of a selection say what is kept and by whom, how good proposals are, how large groups are and what is proposed of them.
func TestSelectionPages(t *testing.T) {
	s := birdsSelected(t)
	for target, says := range map[string][]string{
		"/selections?": {`href="/selection?name=ravens"`, "ravens in letters", "by <bdi>ann</bdi>"},
		"/selection?name=ravens": {"5 pages to keep, 5 to drop", "<dt>Precision</dt><dd>1.00", "<dt>Recall</dt><dd>1.00", "<code><bdi>&#34;number 21&#34;</bdi></code>", "host:birds.example", "7 open of 12",
			"proposed: keep 7, drop 0", `<th scope="row">open</th><td>16</td>`, `<th scope="row">drop</th><td>6</td><td>5</td><td>1</td>`, "near:", "3 open of 3", `value="host%3Abirds.example"`, `aria-label`},
		"/selection/groups?name=ravens&kind=host":               {"3 groups", "6 open of 12", "proposed: keep 0, drop 6"},
		"/selection/groups?name=ravens&kind=near":               {"near:", "3 open of 3"},
		"/selection/group?name=ravens&group=host:birds.example": {"7 open of 12", "Page 10", "Least certain pages", `name="group" value="host%3Abirds.example"`, `name="url" value="http%3A%2F%2Fbirds.example%2F`, "probably to keep: 0."},
		"/selection/ask?name=ravens":                            {"16 pages are open", "Page 1", `name="verdict" value="drop"`},
		"/selection/history?name=ravens":                        {"Entry 5", "made the selection", "Why: <bdi>a test of &lt;b&gt;</bdi>", `<a href="/calendar?url=http%3A%2F%2Fsoup.example%2F9">`},
	} {
		w := ask(t, s.h, target)
		body := w.Body.String()
		for _, text := range says {
			if !strings.Contains(body, text) {
				t.Errorf("%s: %d: it does not say %q:\n%s", target, w.Code, text, body)
			}
		}
		if got := w.Header().Get("Referrer-Policy"); got != map[bool]string{true: "same-origin", false: "no-referrer"}[strings.Contains(body, `method="post"`)] {
			t.Errorf("%s: Referrer-Policy %s", target, got)
		}
		if got := w.Header().Get("Content-Security-Policy"); got != policyOf {
			t.Errorf("%s: %s", target, got)
		}
		for _, fault := range harm(body, false) {
			t.Errorf("%s: %s", target, fault)
		}
	}
	for target, status := range map[string]int{
		"/selection?name=crows": 404, "/selection?name=..": 404, "/selection?name=ravens&archive=2": 404, "/selection?name=ravens&archive=x": 400, "/selection": 404, "/selection/groups?name=ravens&kind=x": 400,
		"/selection/groups?name=ravens&kind=host&page=0": 400, "/selection/groups?name=ravens&kind=host&page=99": 200, "/selection/group?name=ravens&group=x": 400, "/selection/group?name=ravens&group=host:none.example": 404,
		"/selection/group?name=ravens&group=near:00000000000000ff": 404, "/selection/history?name=ravens&page=99": 200, "/selection/decide": 404,
	} {
		if w := ask(t, s.h, target); w.Code != status {
			t.Errorf("%s: %d, want %d", target, w.Code, status)
		}
	}
	one := s.form("group", "host:soup.example", "verdict", "drop")
	if w := s.post(one); w.Code != 303 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	// What was decided is no question any more, also before it is worked out; then it is counted.
	if body := ask(t, s.h, "/selection/ask?name=ravens").Body.String(); strings.Contains(body, "soup.example/") || !strings.Contains(body, "those of this version are being worked out") {
		t.Error(body)
	}
	if body := ask(t, s.h, "/selection/groups?name=ravens&kind=host").Body.String(); !strings.Contains(body, "Decided since: drop") {
		t.Error(body)
	}
	s.work()
	s.work()
	if body := ask(t, s.h, "/selection?name=ravens").Body.String(); !strings.Contains(body, `<th scope="row">drop</th><td>12</td><td>12</td>`) {
		t.Error(body)
	}
}

// TestSelectionBefore: before anything is worked out, and of an archive that has no selection, pages say so; groups cannot be decided yet, and the decision is not lost.
func TestSelectionBefore(t *testing.T) {
	r := birds(t)
	s := &selecting{rig: r}
	_, s.h = s.open()
	if w := ask(t, s.h, "/selections"); w.Code != 404 || strings.Contains(ask(t, s.h, "/").Body.String(), "/selections") {
		t.Errorf("a room without a desk: %d", w.Code)
	}
	s = selectingOf(t, r)
	v := s.form("group", "host:soup.example", "verdict", "drop", "why", "soup")
	fresh := *s
	_, fresh.h = s.open(func(c *room.Config) {
		c.Desk, c.Deciders = newDesk(s), &room.Deciders{Who: "ann"}
	})
	if body := ask(t, fresh.h, "/selection?name=ravens").Body.String(); !strings.Contains(body, "are being worked out from the archive") || !strings.Contains(body, "It is not counted yet.") {
		t.Error(body)
	}
	v.Set("token", fresh.form()["token"][0])
	if w := fresh.post(v); w.Code != 503 || !strings.Contains(w.Body.String(), `value="host%3Asoup.example"`) || !strings.Contains(w.Body.String(), "because: <bdi>soup</bdi>") || len(s.entries()) != 1 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestSelectionDoor: what readers may not see they do not count, find or decide; a decision on a group is one on the pages that they see.
func TestSelectionDoor(t *testing.T) {
	s := birdsSelected(t)
	rules, err := room.ReadRules([]byte("rules: [{host: soup.example, access: closed}, {host: copies.example, from: 2026-04-16}]"))
	if err != nil {
		t.Fatal(err)
	}
	s.rules = rules
	s.start(nil)
	for _, target := range selectionPages {
		for _, format := range []string{"", "&format=json"} {
			w := ask(t, s.h, target+format)
			for _, secret := range []string{"soup", "onion", "copies", "Page 1</", "number 21", "a test of"} {
				if strings.Contains(w.Body.String(), secret) {
					t.Errorf("%s says %q:\n%s", target+format, secret, w.Body)
				}
			}
			if w.Code != 200 {
				t.Errorf("%s: %d", target, w.Code)
			}
		}
	}
	if body := ask(t, s.h, "/selection?name=ravens").Body.String(); !strings.Contains(body, `<th scope="row">open</th><td>7</td>`) || !strings.Contains(body, `<th scope="row">drop</th><td>0</td>`) || !strings.Contains(body, "5 pages to keep, 0 to drop") {
		t.Error(body)
	}
	if w := ask(t, s.h, "/selection/group?name=ravens&group=host:soup.example"); w.Code != 404 {
		t.Errorf("a closed group: %d", w.Code)
	}
	for _, v := range []url.Values{s.form("group", "host:soup.example", "verdict", "drop"), s.form("url", "http://soup.example/11", "verdict", "drop"), s.form("url", "http://copies.example/1", "verdict", "drop")} {
		if w := s.post(v); w.Code != 404 {
			t.Errorf("%v: %d", v, w.Code)
		}
	}
	form := s.form("group", "app:phpBB/thread", "verdict", "drop")
	for range 2 { // sent twice, it is one decision
		if w := s.post(form); w.Code != 303 || !strings.Contains(w.Header().Get("Location"), "decided=6") {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	list := s.entries()
	e := list[len(list)-1]
	if len(list) != 6 || len(e.Decisions) != 7 {
		t.Fatalf("%+v", list)
	}
	for _, d := range e.Decisions {
		if d.Group != "" || !strings.HasPrefix(d.URL, "http://birds.example/") {
			t.Errorf("%+v", d)
		}
	}
	closed, err := room.ReadRules([]byte("otherwise: closed"))
	if err != nil {
		t.Fatal(err)
	}
	s.rules = closed
	_, s.h = s.open(func(c *room.Config) { c.Desk, c.Deciders = newDesk(s), &room.Deciders{Who: "ann"} })
	for _, target := range selectionPages[1:] {
		if w := ask(t, s.h, target); w.Code != 404 {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	if body := ask(t, s.h, "/selections").Body.String(); strings.Contains(body, "ravens") {
		t.Error(body)
	}
}

// TestHostileSelections: no title, URL, reason, name or query becomes an element, an attribute, a script or a link to somewhere else.
func TestHostileSelections(t *testing.T) {
	r, _ := hostileRig(t)
	var entries []selection.Entry
	if _, err := selection.Create(t.Context(), r.store, "other", plainOf(hostile[0]), "", selection.Creation{About: hostile[1]}); err != nil {
		t.Fatal(err)
	}
	for i, text := range hostile {
		text = strings.ToValidUTF8(text, "?")
		canonical, err := selection.CanonicalURL("http://a.example/" + url.PathEscape(text) + "?q=" + url.QueryEscape(text))
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, selection.Entry{
			Who: plainOf(text), Why: text, Rules: []selection.Rule{{Query: `title "` + strings.NewReplacer(`"`, "", `\`, "").Replace(text) + `"`, Verdict: selection.Ask}},
			Decisions: []selection.Decision{{URL: canonical, Verdict: selection.Verdicts[i%2]}, {Group: selection.AppGroup(plainOf(text), plainOf(text), ""), Verdict: selection.Keep}},
		})
	}
	s := selectingOf(t, r, entries...)
	_, s.h = s.open(func(c *room.Config) {
		c.Desk, c.Deciders = s.desk, &room.Deciders{}
		c.Readers = room.Readers{Header: "X-Remote-User"}
	})
	as := header("X-Remote-User", plainOf(hostile[2]))
	targets := append([]string{"/selection?name=other", "/selection/history?name=other"}, selectionPages...)
	for _, text := range hostile {
		q := url.QueryEscape(text)
		targets = append(targets, "/selection?name="+q, "/selection?name=ravens&archive="+q, "/selection?name=ravens&decided="+q, "/selection/groups?name=ravens&kind="+q, "/selection/group?name=ravens&group="+q,
			"/selection/group?name=ravens&group=app:"+q+"/", "/selection/history?name=ravens&page="+q)
	}
	for _, target := range targets {
		w := ask(t, s.h, target, as)
		if w.Code >= 500 {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
		for _, fault := range harm(w.Body.String(), false) {
			t.Errorf("%s: %s", target, fault)
		}
		twin := ask(t, s.h, target+"&format=json", as).Body.String()
		if strings.ContainsAny(twin, "<>") || strings.Contains(twin, "\u2028") || !json.Valid([]byte(twin)) {
			t.Errorf("%s: its JSON has < or >: %s", target, twin)
		}
	}
	// What is sent comes back on the page that asks again.
	for _, text := range hostile {
		v := url.Values{"name": {"ravens"}, "archive": {"1"}, "id": {"0123456789abcdef"}, "version": {"1"}, "token": {text}, "next": {text}, "group": {"app:" + strings.NewReplacer("/", "", "@", "").Replace(plainOf(text)) + "/"}, "verdict": {"keep"}, "why": {text}}
		w := s.post(v, as)
		if w.Code >= 500 {
			t.Errorf("%q: %d", text, w.Code)
		}
		for _, fault := range harm(w.Body.String(), false) {
			t.Errorf("%q: %s", text, fault)
		}
	}
	if n := len(s.entries()); n != len(hostile)+1 {
		t.Errorf("%d entries", n)
	}
}

// plainOf is a text as a name may have it.
func plainOf(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
}
