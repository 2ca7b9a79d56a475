package room

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/muninn-archive/muninn/internal/selection"
	"github.com/muninn-archive/muninn/internal/selection/desk"
)

// groupRow is a group in a list.
type groupRow struct {
	Group     selection.Group    `json:"group"`
	Captures  int                `json:"captures"`
	Open      int                `json:"open"`      // captures that nothing had decided when they were counted
	Pages     int                `json:"pages"`     // open pages that the model has seen
	Keep      int                `json:"keep"`      // of them, those that it proposes to keep
	Drop      int                `json:"drop"`      // the others
	Certainty float64            `json:"certainty"` // of these proposals, on average; 0: there are none
	Decided   *selection.Verdict `json:"decided,omitempty"`
	Address   string             `json:"address"`
}

func (c *chosenOf) groupRow(g desk.Group, since map[selection.Group]selection.Verdict) groupRow {
	row := groupRow{Group: g.Group, Captures: g.Captures, Open: g.Open, Pages: g.Pages, Certainty: g.Certainty, Address: c.address("/selection/group", "group", string(g.Group))}
	if g.Certainty > 0 {
		row.Keep, row.Drop = g.Keep, g.Pages-g.Keep
	}
	if v, decided := since[g.Group]; decided {
		row.Decided = &v
	}
	return row
}

// decidedSince are the groups that were decided since the captures were counted.
func (c *chosenOf) decidedSince() map[selection.Group]selection.Verdict {
	since := map[selection.Group]selection.Verdict{}
	for i := min(int(c.Work.Counted), len(c.Entries)); i < len(c.Entries); i++ {
		for _, d := range c.Entries[i].Decisions {
			if d.Group != "" {
				since[d.Group] = d.Verdict
			}
		}
	}
	return since
}

type groupsPage struct {
	selectionHead
	Kind    string     `json:"kind"`
	Title   string     `json:"-"`
	N       int        `json:"n"`
	Crowded bool       `json:"crowded"` // there are more groups than were counted
	Groups  []groupRow `json:"groups"`
	Page    int        `json:"page"`
	Before  string     `json:"before,omitempty"`
	After   string     `json:"after,omitempty"`
}

// pageOf reads the number of a page, from 1.
func pageOf(req *http.Request) (int, error) {
	text := req.URL.Query().Get("page")
	if text == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1<<30 {
		return 0, wrong("page: %q is no number of a page", oneLine(text, 40))
	}
	return n, nil
}

// groups lists the groups of a kind, the largest first.
func (r *Room) groups(req *http.Request) (view, error) {
	c, err := r.chosenBy(req)
	if err != nil {
		return view{}, err
	}
	p := groupsPage{selectionHead: r.head(req, c), Kind: req.URL.Query().Get("kind"), Groups: []groupRow{}}
	for _, k := range kinds {
		if k.kind == p.Kind {
			p.Title = k.title
		}
	}
	if p.Title == "" {
		return view{}, wrong("kind: %q is none of site, host, app and near", oneLine(p.Kind, 40))
	}
	if p.Page, err = pageOf(req); err != nil {
		return view{}, err
	}
	if w := c.Work; w != nil {
		list, since := w.Groups(p.Kind), c.decidedSince()
		p.N, p.Crowded = len(list), w.Crowded
		first := min(len(list), (p.Page-1)*groupsShown)
		last := min(len(list), first+groupsShown)
		for _, g := range list[first:last] {
			p.Groups = append(p.Groups, c.groupRow(g, since))
		}
		if p.Page > 1 {
			p.Before = c.address("/selection/groups", "kind", p.Kind, "page", strconv.Itoa(p.Page-1))
		}
		if last < len(list) {
			p.After = c.address("/selection/groups", "kind", p.Kind, "page", strconv.Itoa(p.Page+1))
		}
	}
	return view{Name: "groups", Title: p.Title + " of selection " + c.Name, Data: &p, Sends: p.Form != nil}, nil
}

// pageRow is a page of an archive that is to be decided on.
type pageRow struct {
	URL     string     `json:"url"`
	Title   string     `json:"title"`
	Crawl   string     `json:"crawl"`
	Score   float64    `json:"score"`          // −1: none
	Keep    *float64   `json:"keep,omitempty"` // probability that it is to be kept
	Groups  []groupRow `json:"groups,omitempty"`
	Address string     `json:"address"`
}

func rowOf(f *selection.Facts) pageRow {
	l := Link{f.URL, f.Date, f.Crawl}
	return pageRow{URL: f.URL, Title: titled(f.Title, f.URL), Crawl: f.Crawl, Score: f.Score, Address: l.capture()}
}

func (c *chosenOf) questions(g selection.Group) (list []pageRow) {
	list = []pageRow{}
	if c.Work == nil {
		return list
	}
	since := c.decidedSince()
	for _, q := range c.Work.Questions(g, c.State, questionsAt) {
		row := rowOf(q.Facts)
		row.Keep = q.Keep
		for _, of := range q.Groups {
			row.Groups = append(row.Groups, c.groupRow(of, since))
		}
		list = append(list, row)
	}
	return list
}

type askPage struct {
	selectionHead
	Open      int       `json:"open"`   // pages that are open, of those that the model sees
	Sample    int       `json:"sample"` // of how many open pages the model sees one
	Questions []pageRow `json:"questions"`
}

// ask shows the pages of all groups whose decision teaches most.
func (r *Room) ask(req *http.Request) (view, error) {
	c, err := r.chosenBy(req)
	if err != nil {
		return view{}, err
	}
	p := askPage{selectionHead: r.head(req, c), Questions: c.questions("")}
	if c.Work != nil {
		p.Open, p.Sample = c.Work.Open, c.Work.Sample
	}
	return view{Name: "ask", Title: "Questions of selection " + c.Name, Data: &p, Sends: p.Form != nil}, nil
}

type groupPage struct {
	selectionHead
	Of        groupRow           `json:"of"`
	Decision  *selection.Verdict `json:"decision,omitempty"` // the last one that names the group
	Single    bool               `json:"single"`             // a decision of it is of the pages that are shown, not of the group: a part of it may be closed
	Sample    []pageRow          `json:"sample"`
	Questions []pageRow          `json:"questions"`
}

// group shows a group: how large it is, what the model proposes, a sample, and the pages whose decision teaches most.
func (r *Room) group(req *http.Request) (view, error) {
	c, err := r.chosenBy(req)
	if err != nil {
		return view{}, err
	}
	g, err := selection.ParseGroup(req.URL.Query().Get("group"))
	if err != nil {
		return view{}, wrong("group: %v", err)
	}
	p := groupPage{selectionHead: r.head(req, c), Of: groupRow{Group: g}, Single: !c.whole, Sample: []pageRow{}, Questions: []pageRow{}}
	if c.Work != nil {
		of, known := c.Work.Group(g)
		if !known {
			return view{}, missing("selection %s has no page of %s here", c.Name, oneLine(string(g), titleBytes))
		}
		p.Of = c.groupRow(of, nil)
		if v, decided := c.State.DecidedGroup(g); decided {
			p.Decision = &v
		}
		open := c.Work.Pages(g, c.State, groupPages)
		for i := range min(sampleOfGroup, len(open)) {
			p.Sample = append(p.Sample, rowOf(open[i*len(open)/min(sampleOfGroup, len(open))]))
		}
		p.Questions = c.questions(g)
	}
	return view{Name: "group", Title: string(g) + " of selection " + c.Name, Data: &p, Sends: p.Form != nil}, nil
}

// groupPages is the number of open pages of a group of which a sample is taken, and that can be decided one by one at a time.
const groupPages = 5000

// groupBytes bounds the URLs of such pages in one decision: an entry has 4 MiB at most, with other members and escapes beside them.
const groupBytes = 1 << 20

// historyPage is who has decided what, when and why.
type historyPage struct {
	selectionHead
	Entries []entryRow `json:"entries"`
	Page    int        `json:"page"`
	Before  string     `json:"before,omitempty"`
	After   string     `json:"after,omitempty"`
}

func (r *Room) history(req *http.Request) (view, error) {
	c, err := r.chosenBy(req)
	if err != nil {
		return view{}, err
	}
	p := historyPage{selectionHead: r.head(req, c), Entries: []entryRow{}}
	if p.Page, err = pageOf(req); err != nil {
		return view{}, err
	}
	last := max(0, len(c.Entries)-(p.Page-1)*entriesShown)
	first := max(0, last-entriesShown)
	for i, e := range slices.Backward(c.Entries[first:last]) {
		row, err := r.entryRow(req.Context(), c, uint64(first+i+1), &e)
		if err != nil {
			return view{}, err
		}
		p.Entries = append(p.Entries, row)
	}
	if p.Page > 1 {
		p.Before = c.address("/selection/history", "page", strconv.Itoa(p.Page-1))
	}
	if first > 0 {
		p.After = c.address("/selection/history", "page", strconv.Itoa(p.Page+1))
	}
	return view{Name: "history", Title: "History of selection " + c.Name, Data: &p}, nil
}
