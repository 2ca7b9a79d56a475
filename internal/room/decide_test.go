package room_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/room"
	"github.com/muninn-archive/muninn/internal/selection"
	"github.com/muninn-archive/muninn/internal/selection/desk"
)

// selecting is an archive with a selection, and a room in which Ann decides.
type selecting struct {
	*rig
	desk *desk.Desk
	h    http.Handler
}

// selectingOf makes a selection of an archive; more entries may follow. Ann decides, unless another one is named.
func selectingOf(t *testing.T, r *rig, entries ...selection.Entry) *selecting {
	t.Helper()
	l, err := selection.Create(t.Context(), r.store, "ravens", "ann", "for the test", selection.Creation{About: "ravens in letters"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Who == "" {
			e.Who = "bob"
		}
		if _, err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	s := &selecting{rig: r}
	s.start(nil)
	return s
}

// start opens the room again.
func (s *selecting) start(change func(*room.Config)) {
	s.t.Helper()
	_, s.h = s.open(func(c *room.Config) {
		s.desk = newDesk(s)
		c.Desk, c.Deciders = s.desk, &room.Deciders{Who: "ann"}
		if change != nil {
			change(c)
		}
	})
	s.work()
}

// newDesk makes a desk that has worked out nothing.
func newDesk(s *selecting) *desk.Desk {
	now := func() time.Time { return s.now }
	return desk.New(desk.Config{Archives: []archive.Store{s.store}, Shown: room.NewDoor(s.rules, s.views, s.views.Index, now).Selects(), Now: now})
}

// work looks at the selection and works out what is due, a long time later.
func (s *selecting) work() {
	s.t.Helper()
	s.now = s.now.Add(time.Minute)
	if w := ask(s.t, s.h, "/selection?name=ravens"); w.Code != 200 {
		s.t.Fatalf("%d %s", w.Code, w.Body)
	}
	s.desk.Round(s.t.Context())
}

// data is the JSON of a page.
func (s *selecting) data(target string) (v map[string]any) {
	s.t.Helper()
	w := ask(s.t, s.h, target+"&format=json")
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		s.t.Fatalf("%s: %d %s", target, w.Code, w.Body)
	}
	return v
}

// form is a form of a page, as a browser sends it.
func (s *selecting) form(pairs ...string) url.Values {
	s.t.Helper()
	f := s.data("/selection?name=ravens")["decide"].(map[string]any)
	v := url.Values{"name": {"ravens"}, "archive": {"1"}, "id": {f["id"].(string)}, "version": {fmt.Sprint(f["version"])}, "token": {f["token"].(string)}, "next": {"/selection?name=ravens"}}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == "url" || pairs[i] == "group" {
			pairs[i+1] = url.QueryEscape(pairs[i+1])
		}
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

func (s *selecting) post(v url.Values, change ...func(*http.Request)) *httptest.ResponseRecorder {
	s.t.Helper()
	req := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, "/selection/decide", strings.NewReader(v.Encode()))
	req.Host = "127.0.0.1:8480"
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, c := range change {
		c(req)
	}
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, req)
	return w
}

// entries are those of the selection, read from the archive.
func (s *selecting) entries() []selection.Entry {
	s.t.Helper()
	l, err := selection.Open(s.t.Context(), s.store, "ravens")
	if err != nil {
		s.t.Fatal(err)
	}
	return l.Entries()
}

func header(name, value string) func(*http.Request) {
	return func(req *http.Request) { req.Header.Set(name, value) }
}

// ownRavens is an archive of ravens of which a test may change the selections.
func ownRavens(t *testing.T) *rig {
	r := newRig(t)
	fillRavens(r)
	return r
}

const groupOfA = "host:a.example"

// TestDecide: a decision of a form is an entry of the person's, once, however often it is sent; the segment stays as it is.
func TestDecide(t *testing.T) {
	s := selectingOf(t, ownRavens(t))
	before := keysOf(t, s.store)
	form := s.form("url", "HTTP://a.example/second", "verdict", "keep", "why", "the cousin ")
	w := s.post(form)
	if w.Code != 303 || w.Header().Get("Location") != "/selection?decided=2&name=ravens" {
		t.Fatalf("%d %s %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	if again := s.post(form); again.Code != 303 || again.Header().Get("Location") != w.Header().Get("Location") {
		t.Errorf("sent twice: %d %s", again.Code, again.Header().Get("Location"))
	}
	list := s.entries()
	if len(list) != 2 || list[1].Who != "ann" || list[1].Why != "the cousin" || len(list[1].Decisions) != 1 || list[1].Decisions[0] != (selection.Decision{URL: "http://a.example/second", Verdict: selection.Keep}) {
		t.Fatalf("%+v", list)
	}
	if body := ask(t, s.h, w.Header().Get("Location")).Body.String(); !strings.Contains(body, "Entry 2 of the selection has this decision.") || !strings.Contains(body, "You decide as <bdi>ann</bdi>") {
		t.Error(body)
	}
	s.work()
	if w := s.post(s.form("group", groupOfA, "verdict", "drop")); w.Code != 303 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if list = s.entries(); len(list) != 3 || list[2].Decisions[0] != (selection.Decision{Group: groupOfA, Verdict: selection.Drop}) {
		t.Errorf("%+v", list)
	}
	after := keysOf(t, s.store)
	if len(after) != len(before)+2 {
		t.Errorf("%d objects, want %d", len(after), len(before)+2)
	}
	for key, size := range before {
		if after[key] != size {
			t.Errorf("%s has changed", key)
		}
	}
	s.work()
	s.work()
	page := s.data("/selection?name=ravens")
	if got := fmt.Sprint(page["captures"]); !strings.Contains(got, "verdict:drop") || page["counted"] != 3.0 {
		t.Errorf("%v", page)
	}
	history := ask(t, s.h, "/selection/history?name=ravens").Body.String()
	for _, says := range []string{"Entry 3", "drop: <a", groupOfA, "keep: <a", "Why: <bdi>the cousin</bdi>", "<bdi>ann</bdi>", "made the selection"} {
		if !strings.Contains(history, says) {
			t.Errorf("the history does not say %q:\n%s", says, history)
		}
	}
}

// keysOf are the objects of a store that are no views, with their sizes.
func keysOf(t *testing.T, store archive.Store) map[string]int64 {
	t.Helper()
	keys := map[string]int64{}
	if err := store.List(t.Context(), "", func(o archive.Object) error { keys[o.Key] = o.Size; return nil }); err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestOutdated: a decision on a page that is not up to date is written if nobody has decided otherwise since, is there already if somebody has decided the same, and is
// asked for again if somebody has decided otherwise; nothing is lost and nothing doubled.
func TestOutdated(t *testing.T) {
	s := selectingOf(t, ownRavens(t))
	old := s.form("url", "http://a.example/second", "verdict", "keep", "why", "mine")
	other := func(d selection.Decision) {
		t.Helper()
		l, err := selection.Open(t.Context(), s.store, "ravens")
		if err == nil {
			_, err = l.Append(t.Context(), selection.Entry{Who: "bob", Decisions: []selection.Decision{d}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	with := func(v url.Values, pairs ...string) url.Values {
		out := url.Values{}
		for k := range v {
			out.Set(k, v.Get(k))
		}
		for i := 0; i < len(pairs); i += 2 {
			out.Set(pairs[i], pairs[i+1])
		}
		return out
	}
	other(selection.Decision{URL: "http://b.example/x", Verdict: selection.Drop}) // 2: of another page
	if w := s.post(old); w.Code != 303 || len(s.entries()) != 3 {
		t.Fatalf("another page was decided: %d, %d entries", w.Code, len(s.entries()))
	}
	second := with(old, "url", "http://a.example/")
	other(selection.Decision{URL: "http://a.example/", Verdict: selection.Keep}) // 4: the same
	if w := s.post(second); w.Code != 303 || !strings.Contains(w.Header().Get("Location"), "decided=4") || len(s.entries()) != 4 {
		t.Errorf("the same was decided: %d %s", w.Code, w.Header().Get("Location"))
	}
	other(selection.Decision{Group: "site:a.example", Verdict: selection.Drop}) // 5: otherwise, by a group
	for _, v := range []url.Values{second, old} {                               // one that was not written, and one that was
		w := s.post(v)
		body := w.Body.String()
		if w.Code != 409 || len(s.entries()) != 5 || !strings.Contains(body, "entry 5 has decided otherwise: drop") || !strings.Contains(body, `name="anyway" value="yes"`) || !strings.Contains(body, `value="mine"`) {
			t.Fatalf("%d %s", w.Code, body)
		}
		for _, fault := range harm(body, false) {
			t.Error(fault)
		}
	}
	group := s.form("group", groupOfA, "verdict", "keep")
	other(selection.Decision{URL: "http://a.example/second", Verdict: selection.Drop}) // 6: a page of the group
	if w := s.post(group); w.Code != 409 || !strings.Contains(w.Body.String(), "entry 6 has decided otherwise: drop") || len(s.entries()) != 6 {
		t.Errorf("a page of the group was decided otherwise: %d", w.Code)
	}
	if w := s.post(with(s.form(), "url", "http://a.example/second", "verdict", "keep", "why", "mine", "anyway", "yes")); w.Code != 303 || len(s.entries()) != 7 {
		t.Errorf("all the same: %d, %d entries", w.Code, len(s.entries()))
	}
	// Back to an old page, another verdict, and back to the first one.
	v := s.form("url", "http://b.example/x", "verdict", "keep")
	for i, verdict := range []string{"keep", "drop"} {
		if w := s.post(with(v, "verdict", verdict)); w.Code != map[int]int{0: 303, 1: 409}[i] {
			t.Errorf("%s: %d", verdict, w.Code)
		}
	}
	if n := len(s.entries()); n != 8 {
		t.Errorf("%d entries, want 8", n)
	}
}

// TestDecideAfterRestart: a form of a server that was started again comes back as it was: sent twice it is one decision, and what others have decided meanwhile is
// shown before it is written.
func TestDecideAfterRestart(t *testing.T) {
	s := selectingOf(t, ownRavens(t))
	sent, waits := s.form("url", "http://a.example/second", "verdict", "keep"), s.form("url", "http://a.example/", "verdict", "keep")
	if w := s.post(sent); w.Code != 303 || len(s.entries()) != 2 {
		t.Fatalf("%d, %d entries", w.Code, len(s.entries()))
	}
	l, err := selection.Open(t.Context(), s.store, "ravens")
	if err == nil {
		_, err = l.Append(t.Context(), selection.Entry{Who: "bob", Decisions: []selection.Decision{{URL: "http://a.example/", Verdict: selection.Drop}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	s.start(nil)
	inputs := regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)
	for name, c := range map[string]struct {
		form   url.Values
		status int
		says   string
	}{"sent before": {sent, 303, ""}, "not sent before": {waits, 409, "entry 3 has decided otherwise: drop"}} {
		w := s.post(c.form)
		if w.Code != 403 || !strings.Contains(w.Body.String(), "started again") {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
		form := url.Values{"verdict": {c.form.Get("verdict")}}
		for _, m := range inputs.FindAllStringSubmatch(w.Body.String(), -1) {
			form.Set(m[1], html.UnescapeString(m[2]))
		}
		if w := s.post(form); w.Code != c.status || !strings.Contains(w.Body.String(), c.says) || len(s.entries()) != 3 {
			t.Errorf("%s: %d, %d entries: %s", name, w.Code, len(s.entries()), w.Body)
		}
	}
}

// TestWhoDecides: nothing is written but by a person whom the room knows, from a page of the room.
func TestWhoDecides(t *testing.T) {
	s := selectingOf(t, ownRavens(t))
	good := s.form("url", "http://a.example/second", "verdict", "keep")
	change := func(name, value string) url.Values {
		v := url.Values{}
		for k := range good {
			v.Set(k, good.Get(k))
		}
		v.Set(name, value)
		return v
	}
	none := func(req *http.Request) { req.Header.Del("Sec-Fetch-Site") }
	for name, c := range map[string]struct {
		form   url.Values
		change func(*http.Request)
		status int
	}{
		"another site":               {good, header("Sec-Fetch-Site", "cross-site"), 403},
		"another host of the site":   {good, header("Sec-Fetch-Site", "same-site"), 403},
		"typed by hand":              {good, header("Sec-Fetch-Site", "none"), 403},
		"another origin":             {good, func(req *http.Request) { none(req); req.Header.Set("Origin", "http://evil.example") }, 403},
		"another port":               {good, func(req *http.Request) { none(req); req.Header.Set("Origin", "http://127.0.0.1:8481") }, 403},
		"no origin":                  {good, func(req *http.Request) { none(req); req.Header.Set("Origin", "null") }, 403},
		"another name of this":       {good, func(req *http.Request) { req.Host = "evil.example:8480" }, 403},
		"no token":                   {change("token", ""), nil, 403},
		"a wrong token":              {change("token", strings.Repeat("0", 32)), nil, 403},
		"no id":                      {change("id", ""), nil, 400},
		"no verdict":                 {change("verdict", "perhaps"), nil, 400},
		"a URL and a group":          {change("group", groupOfA), nil, 400},
		"neither":                    {change("url", ""), nil, 400},
		"no URL":                     {change("url", "javascript:alert(1)"), nil, 400},
		"a version that is to come":  {change("version", "99"), nil, 400},
		"no version":                 {change("version", "x"), nil, 400},
		"a long reason":              {change("why", strings.Repeat("x", 5000)), nil, 400},
		"a large form":               {change("why", strings.Repeat("x", 1<<20)), nil, 400},
		"no such page":               {change("url", "http://a.example/none"), nil, 404},
		"no such selection":          {change("name", "crows"), nil, 404},
		"no name of a selection":     {change("name", "../c"), nil, 404},
		"no such archive":            {change("archive", "2"), nil, 404},
		"a body that is not a form":  {good, header("Content-Type", "text/plain"), 400},
		"a page that it leads to":    {change("next", "//evil.example/"), func(req *http.Request) { req.Method = http.MethodPut }, 405},
		"another path of the method": {good, func(req *http.Request) { req.URL.Path = "/selection" }, 405},
	} {
		ch := c.change
		if ch == nil {
			ch = func(*http.Request) {}
		}
		if w := s.post(c.form, ch); w.Code != c.status || len(s.entries()) != 1 {
			t.Errorf("%s: %d, want %d, %d entries: %s", name, w.Code, c.status, len(s.entries()), w.Body)
		}
	}
	for _, next := range []string{"//evil.example/", ""} { // the decision leads to the page of its selection, which says that it was taken
		w := s.post(change("next", next), func(req *http.Request) { none(req); req.Header.Set("Origin", "http://127.0.0.1:8480") })
		to := w.Header().Get("Location")
		if w.Code != 303 || !strings.HasPrefix(to, "/selection?") || !strings.Contains(to, "name=ravens") || !strings.Contains(to, "decided=2") {
			t.Errorf("a form that leads to %q: %d %s", next, w.Code, to)
		}
	}
	s.start(func(c *room.Config) { c.Deciders = nil })
	if w := s.post(good); w.Code != 405 || len(s.entries()) != 2 {
		t.Errorf("a room for reading: %d", w.Code)
	}
	if body := ask(t, s.h, "/selection?name=ravens").Body.String(); strings.Contains(body, "<form") || !strings.Contains(body, "This room is for reading") {
		t.Error(body)
	}
	s.read = room.Readers{Header: "X-Remote-User"}
	proxied := func(name string) func(*http.Request) { return header("X-Remote-User", name) }
	_, s.h = s.open(func(c *room.Config) { c.Desk, c.Deciders = s.desk, &room.Deciders{Origin: "https://room.example/"} })
	if w := s.post(good); w.Code != 403 {
		t.Errorf("whom the proxy does not name: %d", w.Code)
	}
	var page struct {
		Decide struct{ Token, ID, As string }
	}
	w := ask(t, s.h, "/selection?name=ravens&format=json", proxied("cat"))
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || page.Decide.As != "cat" {
		t.Fatal(err, w.Body)
	}
	v := change("token", page.Decide.Token)
	v.Set("verdict", "drop")
	v.Set("version", "2")
	if w := s.post(v, proxied("dan")); w.Code != 403 || !strings.Contains(w.Body.String(), "for another person") {
		t.Errorf("the page of another person: %d", w.Code)
	}
	for _, name := range []string{"c\x80at", strings.Repeat("c", 300)} { // who is named cannot be a name of an entry
		w := ask(t, s.h, "/selection?name=ravens&format=json", proxied(name))
		_ = json.Unmarshal(w.Body.Bytes(), &page)
		bad := change("token", page.Decide.Token)
		bad.Set("verdict", "drop")
		bad.Set("version", "2")
		if w := s.post(bad, proxied(name)); w.Code != 400 {
			t.Errorf("%q: %d %s", name, w.Code, w.Body)
		}
	}
	if w := s.post(v, proxied("cat"), none, header("Origin", "https://room.example")); w.Code != 303 || s.entries()[2].Who != "cat" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestDecideJSON: a program decides, too, with what the JSON of a page gives.
func TestDecideJSON(t *testing.T) {
	s := selectingOf(t, ownRavens(t))
	f := s.data("/selection/ask?name=ravens")["decide"].(map[string]any)
	send := func(text string) (int, string) {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/selection/decide", strings.NewReader(text))
		req.Host = "127.0.0.1:8480"
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.h.ServeHTTP(w, req)
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: %d %s", text, w.Code, w.Body)
		}
		return w.Code, strings.Join(strings.Fields(w.Body.String()), "")
	}
	text := fmt.Sprintf(`{"name":"ravens","id":%q,"version":%v,"token":%q,"url":"http://a.example/","verdict":"keep"}`, f["id"], f["version"], f["token"])
	for _, want := range []string{`{"selection":"ravens","entry":2,"there":false}`, `{"selection":"ravens","entry":2,"there":true}`} {
		if code, body := send(text); code != 200 || body != want {
			t.Errorf("%d %s, want %s", code, body, want)
		}
	}
	for _, bad := range []string{`{`, text + text, strings.Replace(text, `"verdict"`, `"verdikt"`, 1), `{"why":"` + strings.Repeat("x", 1<<20) + `"}`} {
		if code, _ := send(bad); code != 400 {
			t.Errorf("%.80s: %d", bad, code)
		}
	}
	if code, body := send(strings.Replace(text, f["token"].(string), "", 1)); code != 403 || !strings.Contains(body, `"error":"Thepagewasmade`) {
		t.Errorf("%d %s", code, body)
	}
}

// TestDeciders: who decides must be known before a room is opened for decisions.
func TestDeciders(t *testing.T) {
	for _, c := range []struct {
		deciders *room.Deciders
		readers  room.Readers
		listen   string
		says     string
	}{
		{nil, room.Readers{}, "127.0.0.1:1", ""},
		{&room.Deciders{Who: "ann"}, room.Readers{}, "127.0.0.1:1", ""},
		{&room.Deciders{}, room.Readers{}, "127.0.0.1:1", "say who decides"},
		{&room.Deciders{Who: "ann"}, room.Readers{}, ":1", "off a loopback address"},
		{&room.Deciders{Who: "ann"}, room.Readers{Token: token}, "127.0.0.1:1", "a token does not say who"},
		{&room.Deciders{}, room.Readers{Header: "X-Remote-User"}, ":1", ""},
		{&room.Deciders{Who: "ann"}, room.Readers{Header: "X-Remote-User"}, ":1", "leave out --who"},
	} {
		err := c.deciders.Check(c.readers, c.listen)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v, %+v, %s: %v", c.deciders, c.readers, c.listen, err)
		}
	}
}
