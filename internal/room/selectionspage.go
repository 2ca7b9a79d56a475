package room

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/muninn-archive/muninn/internal/selection"
	"github.com/muninn-archive/muninn/internal/selection/desk"
	"github.com/muninn-archive/muninn/internal/selection/proposal"
)

// Bounds of the pages of selections.
const (
	maxSelections = 200 // that are listed
	maxRulesShown = 500 // of a selection
	groupsShown   = 50  // of a kind on a page
	groupsFirst   = 5   // of a kind on the page of the selection
	sampleOfGroup = 5   // pages of a group that are shown
	questionsAt   = 10  // pages that are asked about at a time
	entriesShown  = 30  // of the history on a page
	stepsShown    = 20  // of the decisions of an entry
)

// chosenOf is a selection that a request is about.
type chosenOf struct {
	*desk.Selection
	first selection.Entry
	whole bool // readers may see all of its crawls
}

// speaksOf reports whether readers may see anything of the crawls of a selection, and whether all of them.
func (r *Room) speaksOf(about *selection.Creation) (some, whole bool) {
	names := about.Crawls
	if len(names) == 0 {
		for _, c := range r.Crawls() {
			names = append(names, c.Name)
		}
	}
	whole = true
	for _, name := range names {
		s, w := r.Door.Crawl(name)
		some, whole = some || s, whole && w
	}
	return some, whole
}

// chosen is the selection that a request names.
func (r *Room) chosen(ctx context.Context, name, number string) (*chosenOf, error) {
	at := desk.At{Archive: 1, Name: name}
	if number != "" {
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, wrong("archive: %q is no number", oneLine(number, 40))
		}
		at.Archive = n
	}
	none := missing("there is no selection %q here", oneLine(name, titleBytes))
	first, err := r.Desk.First(ctx, at)
	if err == nil && first.Create != nil {
		if some, _ := r.speaksOf(first.Create); !some {
			return nil, none
		}
	}
	if errors.Is(err, selection.ErrNone) || errors.Is(err, selection.ErrName) {
		return nil, none
	}
	if err != nil {
		return nil, err
	}
	s, err := r.Desk.Get(ctx, at)
	if err != nil {
		return nil, err
	}
	_, whole := r.speaksOf(first.Create)
	return &chosenOf{s, first, whole}, nil
}

func (r *Room) chosenBy(req *http.Request) (*chosenOf, error) {
	v := req.URL.Query()
	return r.chosen(req.Context(), v.Get("name"), v.Get("archive"))
}

// address is a page of the selection.
func (c *chosenOf) address(path string, pairs ...string) string {
	number := ""
	if c.Archive > 1 {
		number = strconv.Itoa(c.Archive)
	}
	return address(path, append([]string{"name", c.Name, "archive", number}, pairs...)...)
}

type selectionsPage struct {
	Selections []selectionRow `json:"selections"`
	More       bool           `json:"more"` // than are listed
}

type selectionRow struct {
	Name    string    `json:"name"`
	Archive int       `json:"archive"`
	About   string    `json:"about,omitempty"`
	Crawls  []string  `json:"crawls,omitempty"`
	By      string    `json:"by"`
	Made    time.Time `json:"made"`
	Address string    `json:"address"`
}

func (r *Room) selections(req *http.Request) (view, error) {
	list, err := r.Desk.List(req.Context())
	if err != nil {
		return view{}, err
	}
	p := selectionsPage{Selections: []selectionRow{}}
	for _, at := range list {
		first, err := r.Desk.First(req.Context(), at)
		if errors.Is(err, selection.ErrNone) || errors.Is(err, selection.ErrEntry) || err == nil && first.Create == nil {
			continue // it has no beginning: its own page says so
		}
		if err != nil {
			return view{}, err
		}
		some, whole := r.speaksOf(first.Create)
		if !some {
			continue
		}
		if p.More = len(p.Selections) == maxSelections; p.More {
			break
		}
		c := chosenOf{Selection: &desk.Selection{At: at}}
		row := selectionRow{Name: at.Name, Archive: at.Archive, By: first.Who, Made: first.When, Address: c.address("/selection")}
		if whole {
			row.About, row.Crawls = first.Create.About, first.Create.Crawls
		}
		p.Selections = append(p.Selections, row)
	}
	return view{Name: "selections", Title: "Selections", Data: p}, nil
}

// selectionHead is what all pages of a selection have.
type selectionHead struct {
	Name    string `json:"name"`
	Archive int    `json:"archive"`
	Version uint64 `json:"version"`
	Whole   bool   `json:"whole"`   // readers may see all of its crawls; else rules and reasons are missing, and what is decided of closed pages
	Working string `json:"working"` // why figures are missing or old; empty: they are of this version
	Home    string `json:"-"`
	Ask     string `json:"-"`
	History string `json:"-"`
	Written uint64 `json:"written,omitempty"` // the entry that was just written
	Form    *sheet `json:"decide,omitempty"`  // nil: the reader may not decide
}

func (r *Room) head(req *http.Request, c *chosenOf) selectionHead {
	h := selectionHead{
		Name: c.Name, Archive: c.Archive, Version: c.State.Version, Whole: c.whole, Home: c.address("/selection"), Ask: c.address("/selection/ask"), History: c.address("/selection/history"),
		Form: r.sheet(req, c),
	}
	switch {
	case c.Work == nil && c.Fault != nil:
		h.Working = "The pages of this selection could not be read: the log of the server says why. It is tried again."
	case c.Work == nil:
		h.Working = "Groups and proposals are being worked out from the archive. Load this page again in a moment."
	case c.Work.Learned != c.State.Version:
		h.Working = "Proposals are of version " + strconv.FormatUint(c.Work.Learned, 10) + "; those of this version are being worked out."
	}
	if n, err := strconv.ParseUint(req.URL.Query().Get("decided"), 10, 64); err == nil && n > 0 && n <= c.State.Version {
		h.Written = n
	}
	return h
}

// selectionPage is what a selection amounts to.
type selectionPage struct {
	selectionHead
	About     string           `json:"about,omitempty"`
	Crawls    []string         `json:"crawls,omitempty"`
	By        string           `json:"by"`
	Made      time.Time        `json:"made"`
	Rules     []ruleRow        `json:"rules"`
	Decisions *int             `json:"decisions,omitempty"` // of people, also those that no longer count; nil: not all of them are shown
	Counted   uint64           `json:"counted"`             // the version as of which captures are counted; 0: they are not
	Captures  []countRow       `json:"captures"`
	Unread    int              `json:"unread"`
	Quality   proposal.Quality `json:"quality"`
	Least     int              `json:"-"` // decisions of each verdict from which on it is known
	Kinds     []kindRow        `json:"groups"`
}

type ruleRow struct {
	Entry     uint64            `json:"entry"`
	Verdict   selection.Verdict `json:"verdict"`
	Query     string            `json:"query,omitempty"`
	Who       string            `json:"who"`
	Withdrawn bool              `json:"withdrawn"`
}

// countRow is how many captures have a verdict, and by whom.
type countRow struct {
	Verdict selection.Verdict    `json:"verdict"`
	N       int                  `json:"n"`
	By      map[selection.By]int `json:"by"`
	Person  int                  `json:"-"`
	Rule    int                  `json:"-"`
	Model   int                  `json:"-"`
	Nobody  int                  `json:"-"`
}

// kindRow are the largest groups of a kind.
type kindRow struct {
	Kind    string     `json:"kind"`
	Title   string     `json:"-"`
	N       int        `json:"n"`
	Groups  []groupRow `json:"groups"`
	Address string     `json:"address"`
}

// kinds are those of groups, in the order in which they are shown.
var kinds = []struct{ kind, title string }{
	{selection.KindSite, "Domains"}, {selection.KindHost, "Hosts"}, {selection.KindApp, "Applications and levels"}, {selection.KindNear, "Pages that read alike"},
}

func (r *Room) selection(req *http.Request) (view, error) {
	c, err := r.chosenBy(req)
	if err != nil {
		return view{}, err
	}
	p := selectionPage{selectionHead: r.head(req, c), By: c.first.Who, Made: c.first.When, Rules: []ruleRow{}, Captures: []countRow{}, Kinds: []kindRow{}, Least: proposal.LeastHeld}
	rules := c.State.Rules()
	for _, rule := range rules[max(0, len(rules)-maxRulesShown):] {
		row := ruleRow{rule.Entry, rule.Verdict, rule.Query, rule.Who, rule.Withdrawn}
		if !c.whole {
			row.Query = ""
		}
		p.Rules = append(p.Rules, row)
	}
	if c.whole {
		n := c.State.Decisions()
		p.About, p.Crawls, p.Decisions = c.first.Create.About, c.first.Create.Crawls, &n
	}
	if w := c.Work; w != nil {
		p.Counted, p.Unread, p.Quality = w.Counted, w.Unread, w.Quality
		for _, v := range selection.Verdicts {
			by := w.Captures[v]
			row := countRow{Verdict: v, By: map[selection.By]int{}, Person: by[selection.ByPerson], Rule: by[selection.ByRule], Model: by[selection.ByProposal], Nobody: by[selection.ByNothing]}
			for who, n := range by {
				row.By[who], row.N = n, row.N+n
			}
			p.Captures = append(p.Captures, row)
		}
		since := c.decidedSince()
		for _, k := range kinds {
			list := w.Groups(k.kind)
			row := kindRow{Kind: k.kind, Title: k.title, N: len(list), Groups: []groupRow{}, Address: c.address("/selection/groups", "kind", k.kind)}
			for _, g := range list[:min(len(list), groupsFirst)] {
				row.Groups = append(row.Groups, c.groupRow(g, since))
			}
			p.Kinds = append(p.Kinds, row)
		}
	}
	return view{Name: "selection", Title: "Selection " + c.Name, Data: &p, Sends: p.Form != nil}, nil
}
