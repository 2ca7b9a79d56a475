package room

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/selection"
	"github.com/muninn-archive/muninn/internal/selection/desk"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Deciders says who may decide what is selected: those whom the proxy names, or the one person at a loopback address.
type Deciders struct {
	Who    string // the person at a loopback address; empty: the proxy's header names each
	Origin string // how readers reach the room, if a proxy changes the host's name; may be empty
}

// Check finds what is wrong with the deciders of a room with some readers, at an address.
func (d *Deciders) Check(readers Readers, listen string) error {
	switch {
	case d == nil:
	case readers.Token != "":
		return errors.New("a token does not say who decides: leave it out on a loopback address, or use a proxy that names people (--trust-proxy HEADER)")
	case readers.Header != "" && d.Who != "":
		return errors.New("the proxy names those who decide: leave out --who")
	case readers.Header == "" && !loopback(listen):
		return errors.New("off a loopback address a proxy must say who decides (--trust-proxy HEADER)")
	case readers.Header == "" && d.Who == "":
		return errors.New("say who decides (--who NAME, or MUNINN_WHO)")
	}
	return nil
}

const (
	decidePath = "/selection/decide"
	// maxDecision bounds what a decision is sent as, in bytes.
	maxDecision = 32 << 10
)

// person is who sends a request; empty: nobody who may decide.
func (r *Room) person(req *http.Request) string {
	switch {
	case r.Deciders == nil:
		return ""
	case r.Readers.Header != "":
		return strings.TrimSpace(req.Header.Get(r.Readers.Header))
	}
	return r.Deciders.Who
}

// stampOf is what forms of this process have for a person: nobody else can make it.
func (r *Room) stampOf(who string) string {
	mac := hmac.New(sha256.New, r.secret[:])
	_, _ = mac.Write([]byte("decide\x00" + who))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// sheet is what the forms of a page have in common.
type sheet struct {
	ID      string `json:"id"`      // of what is decided on this page: sent twice, it is one decision
	Version uint64 `json:"version"` // that the page shows
	Token   string `json:"token"`
	As      string `json:"as"` // who decides
	Name    string `json:"-"`
	Archive int    `json:"-"`
	Next    string `json:"-"` // the page itself
}

// sheet is nil for those who may not decide.
func (r *Room) sheet(req *http.Request, c *chosenOf) *sheet {
	who := r.person(req)
	if who == "" {
		return nil
	}
	next := *req.URL
	v := next.Query()
	v.Del("decided")
	v.Del("format")
	next.RawQuery = v.Encode()
	return &sheet{selection.NewID(), c.State.Version, r.stampOf(who), who, c.Name, c.Archive, localPath(next.RequestURI())}
}

// sent is a decision as it was sent.
type sent struct {
	Name    string            `json:"name"`
	Archive int               `json:"archive"`
	ID      string            `json:"id"`
	Version uint64            `json:"version"`
	Token   string            `json:"token"`
	URL     string            `json:"url"`
	Group   string            `json:"group"`
	Verdict selection.Verdict `json:"verdict"`
	Why     string            `json:"why"`
	Anyway  bool              `json:"anyway"`
	next    string
}

// sameSite reports whether a request was sent by a page of the room, as browsers say it; programs say nothing.
func (r *Room) sameSite(req *http.Request) bool {
	switch req.Header.Get("Sec-Fetch-Site") {
	case "same-origin":
		return true
	case "": // on plain HTTP off a loopback address, or no browser
	default:
		return false
	}
	origin := req.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && (strings.EqualFold(u.Host, req.Host) || r.Deciders.Origin != "" && origin == strings.TrimSuffix(r.Deciders.Origin, "/"))
}

// unescaped is what a form has of a URL or a group: they are escaped once more there. What is no escape is taken as it is.
func unescaped(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// isJSON reports whether a request sends JSON.
func isJSON(req *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	return kind == "application/json"
}

// readSent reads a form or JSON.
func readSent(w http.ResponseWriter, req *http.Request) (s sent, err error) {
	if isJSON(req) {
		d := json.NewDecoder(http.MaxBytesReader(w, req.Body, maxDecision))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			return s, wrong("the decision is no JSON of at most %d bytes with the members name, archive, id, version, token, url or group, verdict, why and anyway", maxDecision)
		}
		_, err := d.Token()
		if err != io.EOF {
			return s, wrong("something follows the JSON object")
		}
	} else {
		v := form(w, req, maxDecision)
		s = sent{Name: v.Get("name"), ID: v.Get("id"), Token: v.Get("token"), URL: unescaped(v.Get("url")), Group: unescaped(v.Get("group")), Verdict: selection.Verdict(v.Get("verdict")), Why: v.Get("why"),
			Anyway: v.Get("anyway") == "yes", next: v.Get("next")}
		if s.next = localPath(s.next); s.next == "/" && v.Get("next") != "/" { // it names no page of this server: the decision leads to that of its selection
			s.next = ""
		}
		s.Version, _ = strconv.ParseUint(v.Get("version"), 10, 64)
		s.Archive, _ = strconv.Atoi(v.Get("archive"))
	}
	s.Archive, s.Why = max(s.Archive, 1), strings.TrimSpace(plain(s.Why))
	switch {
	case !formID.MatchString(s.ID):
		return s, wrong("id: it must have 16 hexadecimal digits, as a page of the selection gives them")
	case !slices.Contains(selection.Verdicts, s.Verdict):
		return s, wrong("verdict: it must be keep, drop or ask")
	case (s.URL == "") == (s.Group == ""):
		return s, wrong("give a url or a group, and not both")
	}
	if s.URL != "" {
		if s.URL, err = selection.CanonicalURL(s.URL); err != nil {
			return s, wrong("%v", err)
		}
		return s, nil
	}
	g, err := selection.ParseGroup(s.Group)
	if err != nil {
		return s, wrong("group: %v", err)
	}
	s.Group = string(g)
	return s, nil
}

var formID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// entryID is that of the entry that a decision becomes. Another verdict from the same page is another decision.
func (s *sent) entryID(who string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{s.ID, who, s.Name, strconv.Itoa(s.Archive), s.URL, s.Group, string(s.Verdict), s.Why}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// decided is the JSON answer to a decision.
type decided struct {
	Selection string `json:"selection"`
	desk.Done
}

// decide takes a decision. It answers with the page that it came from, or, if the decision cannot be taken as it is, with one that shows it and asks again.
func (r *Room) decide(w http.ResponseWriter, req *http.Request) error {
	ctx, cancel := context.WithTimeout(req.Context(), requestTime)
	defer cancel()
	if isJSON(req) {
		req.Header.Set("Accept", "application/json")
	}
	who := r.person(req)
	if who == "" {
		return &statusError{http.StatusForbidden, "nobody says who decides"}
	}
	if !r.sameSite(req) {
		return &statusError{http.StatusForbidden, "the decision was sent by a page of another site"}
	}
	s, err := readSent(w, req)
	if err != nil {
		return err
	}
	c, err := r.chosen(ctx, s.Name, strconv.Itoa(s.Archive))
	if err != nil {
		return err
	}
	if !hmac.Equal([]byte(s.Token), []byte(r.stampOf(who))) {
		return r.again(w, req, c, &s, http.StatusForbidden, "The page was made before the server was started again, or for another person. Nothing was written.")
	}
	d := desk.Decision{ID: s.entryID(who), Version: s.Version, Who: who, Why: s.Why, Anyway: s.Anyway}
	if err := r.targets(ctx, c, &s, &d); err != nil {
		if errors.Is(err, errWorking) {
			return r.again(w, req, c, &s, http.StatusServiceUnavailable, "The groups of this selection are being worked out. Nothing was written: try again in a moment.")
		}
		return err
	}
	done, err := r.Desk.Decide(ctx, c.At, d)
	var changed *desk.ChangedError
	switch {
	case errors.As(err, &changed):
		says := fmt.Sprintf("Since this page was made, entry %d has decided otherwise: %s. Nothing was written.", changed.Entry, changed.Verdict)
		return r.again(w, req, c, &s, http.StatusConflict, says)
	case errors.Is(err, selection.ErrEntry):
		return wrong("%v", err)
	case err != nil:
		return err
	}
	if asJSON(req) {
		raw, err := jsonOf(decided{c.Name, done})
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(raw)
		return nil
	}
	home := c.address("/selection")
	next, err := url.Parse(cmp.Or(s.next, home))
	if err != nil {
		next, err = url.Parse(home)
	}
	if err != nil {
		return err
	}
	v := next.Query()
	v.Set("decided", strconv.FormatUint(done.Entry, 10))
	next.RawQuery = v.Encode()
	http.Redirect(w, req, next.String(), http.StatusSeeOther)
	return nil
}

var errWorking = errors.New("the selection is being worked out")

// targets says what a decision is of: what readers may see. Of a group a part of which may be closed these are the open pages that are shown.
func (r *Room) targets(ctx context.Context, c *chosenOf, s *sent, d *desk.Decision) error {
	none := missing("selection %s has no page of %s here", c.Name, oneLine(cmp.Or(s.URL, s.Group), urlBytes))
	if s.URL != "" {
		open, err := r.sees(ctx, s.URL)
		if err != nil {
			return err
		}
		if !open {
			return none
		}
		facts := factsOf(c, s.URL)
		d.About = func(other selection.Decision) bool { return other.Group != "" && facts.In(other.Group) }
		d.Of = []selection.Decision{{URL: s.URL, Verdict: s.Verdict}}
		return nil
	}
	if c.Work == nil {
		return errWorking
	}
	g := selection.Group(s.Group)
	if _, known := c.Work.Group(g); !known {
		return none
	}
	if c.whole {
		d.Of = []selection.Decision{{Group: g, Verdict: s.Verdict}}
		d.About = func(other selection.Decision) bool { return other.URL != "" && factsOf(c, other.URL).In(g) }
		return nil
	}
	d.About = func(other selection.Decision) bool { // of the pages one by one, and of the groups that any of them is in
		return other.Group != "" && slices.ContainsFunc(d.Of, func(of selection.Decision) bool { return factsOf(c, of.URL).In(other.Group) })
	}
	for _, e := range c.Entries[min(s.Version, uint64(len(c.Entries))):] {
		if e.ID == d.ID { // it is sent again: its pages are no longer open
			d.Of = e.Decisions
			return nil
		}
	}
	bytes := 0
	for _, f := range c.Work.Pages(g, c.State, groupPages) {
		if bytes += len(f.URL); bytes > groupBytes {
			break
		}
		d.Of = append(d.Of, selection.Decision{URL: f.URL, Verdict: s.Verdict})
	}
	if len(d.Of) == 0 {
		return none
	}
	return nil
}

// factsOf is what is known of a URL, at least its host and site.
func factsOf(c *chosenOf, address string) *selection.Facts {
	if c.Work != nil {
		if f := c.Work.Facts(address); f != nil {
			return f
		}
	}
	host := urls.HostOf(address)
	return &selection.Facts{URL: address, Host: host, Site: urls.PLD(host)}
}

// againPage asks whether a decision is to be taken all the same.
type againPage struct {
	selectionHead
	Status  int               `json:"status"`
	Says    string            `json:"error"`
	URL     string            `json:"url,omitempty"`
	Group   string            `json:"group,omitempty"`
	Verdict selection.Verdict `json:"verdict"`
	Why     string            `json:"why,omitempty"`
	Anyway  bool              `json:"-"` // what others have decided was shown
}

// again shows a decision that was not written, with a form that sends it again. After another decision was shown it is sent as of now; any other form keeps
// its number and its version, so that it is written once, and so that what others have decided since is shown first.
func (r *Room) again(w http.ResponseWriter, req *http.Request, c *chosenOf, s *sent, status int, says string) error {
	now, err := r.chosen(req.Context(), c.Name, strconv.Itoa(c.Archive))
	if err != nil {
		return err
	}
	p := againPage{selectionHead: r.head(req, now), Status: status, Says: says, URL: s.URL, Group: s.Group, Verdict: s.Verdict, Why: s.Why}
	if p.Form != nil {
		p.Form.Next = cmp.Or(s.next, p.Home)
		if p.Anyway = s.Anyway || status == http.StatusConflict; status != http.StatusConflict {
			p.Form.ID, p.Form.Version = s.ID, s.Version
		}
	}
	r.write(w, req, status, view{Name: "again", Title: "Decide again", Data: &p, Sends: true, Twin: now.address("/selection", "format", "json")})
	return nil
}
