package economy

import (
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// mwView is what the templates of eco-mediawiki.html get.
type mwView struct {
	*economyWiki
	Title, Name string // of the page, Name as in its URL
	Action      string
	Namespace   int // -1 for special pages
	Class       string
	Robots      string // what the page forbids: special pages and all that can be done with a page are not to be followed
	Article     *ecoArticlePage
	Category    *ecoCategory
	List        []*ecoArticlePage // members, or what a special page lists
	Before      string            // pageuntil of the page before
	After       string            // pagefrom of the next one
	Revisions   []ecoRevision
	Revision    int // that is shown, if it is an old one
	Of          string
	Text        string
}

// What templates ask for.
func (w *economyWiki) Base() string                { return w.base }
func (w *economyWiki) Users() []string             { return w.users }
func (w *economyWiki) Featured() []*ecoArticlePage { return w.articles[:min(6, len(w.articles))] }
func (w *economyWiki) Limits() []int               { return []int{20, 50, 100, 250, 500} }
func (w *economyWiki) Days() []int                 { return []int{1, 3, 7, 14, 30} }
func (w *economyWiki) Tops() []*ecoCategory {
	return webworld.Keep(w.cats, func(c *ecoCategory) bool { return c.Parent == nil })
}

// Changed are the articles that were edited last week, the newest first.
func (w *economyWiki) Changed() []*ecoArticlePage {
	list := webworld.Keep(w.articles, func(a *ecoArticlePage) bool { return a.Last().Date.After(economyNow.AddDate(0, 0, -7)) })
	slices.SortStableFunc(list, func(a, b *ecoArticlePage) int { return b.Last().Date.Compare(a.Last().Date) })
	return list[:min(50, len(list))]
}

// Talk is the name of the talk page that belongs to this one.
func (v mwView) Talk() string {
	if v.Namespace == 0 {
		return "Talk:" + v.Name
	}
	space, name, _ := strings.Cut(v.Name, ":")
	if strings.Contains(space, "alk") {
		return v.Name
	}
	return space + "_talk:" + name
}

// HasTalk reports whether the talk page of this page has been written.
func (v mwView) HasTalk() bool { return v.Article != nil && v.Article.Discussed }

// IsTalk reports whether this is a talk page.
func (v mwView) IsTalk() bool { return v.Namespace > 0 && v.Namespace%2 == 1 }

// N and TalkN are names as they stand in links, where their colon stays as it is.
func (v mwView) N() template.URL          { return template.URL(v.Name) }
func (v mwView) TalkN() template.URL      { return template.URL(v.Talk()) }
func (a *ecoArticlePage) N() template.URL { return template.URL(a.Name) }

func (w *economyWiki) answer(u *url.URL, _ session) *reply {
	q := argumentsOf(u.RawQuery)
	name, isWiki := strings.CutPrefix(u.Path, "/wiki/")
	switch {
	case u.Path == "/":
		return redirectTo(w.base + "/wiki/Main_Page")
	case u.Path == "/index.php":
		if name = strings.ReplaceAll(q["title"], " ", "_"); name == "" {
			name = "Main_Page"
		}
	case u.Path == "/api.php" || u.Path == "/opensearch_desc.php":
		return &reply{kind: "api", view: "emw-api", data: mwView{economyWiki: w}, mime: "application/xml; charset=utf-8"}
	case !isWiki:
		return nil
	}
	v := mwView{economyWiki: w, Name: name, Title: strings.ReplaceAll(name, "_", " "), Action: "view"}
	space, rest, ok := strings.Cut(name, ":")
	if ok {
		v.Namespace = map[string]int{"Special": -1, "Talk": 1, "User": 2, "User_talk": 3, "Corvipedia": 4, "Corvipedia_talk": 5, "Help": 12, "Category": 14, "Category_talk": 15}[space]
	}
	if v.Namespace == -1 {
		return v.special(rest, q)
	}
	return v.page(space, rest, q)
}

func (v mwView) reply(kind, view string, objects ...string) *reply {
	return &reply{kind: kind, view: view, data: v, objects: objects}
}

// page answers for what is no special page: a page as it is or was, or an action on it.
func (v mwView) page(space, rest string, q arguments) *reply {
	name := v.Name
	if v.Namespace == 1 {
		name = rest
	}
	v.Article = v.byName[name]
	exists := v.Article != nil && (v.Namespace == 0 || v.Article.Discussed) || v.Name == "Main_Page" ||
		v.Namespace == 2 && slices.Contains(v.users, rest) || v.Namespace == 4 || v.Namespace == 12
	if v.Namespace == 14 {
		v.Category = find(v.cats, func(c *ecoCategory) bool { return c.Name == rest })
		exists = v.Category != nil
	}
	v.Revisions = []ecoRevision{{ID: 77, User: v.users[0], Date: economyNow.AddDate(0, -2, 0)}}
	if v.Article != nil && v.Namespace == 0 {
		v.Revisions = v.Article.Revisions
	}
	switch action := q["action"]; {
	case q.has("diff") || action != "" && action != "view" || !exists || q.has("oldid"):
		v.Robots = "noindex,nofollow,"
	case q.has("printable"):
		v.Robots = "noindex,follow,"
	}
	switch action := q["action"]; {
	case q.has("diff"):
		return v.diff(q)
	case action == "edit" || action == "submit":
		v.Action, v.Title, v.Text = "edit", "Editing "+v.Title, "You do not have permission to edit this page."
		return v.reply("edit", "emw-message")
	case action == "history":
		return v.history(q)
	case action == "info":
		v.Action, v.Title, v.Text = "info", "Information for \""+v.Title+"\"", "Basic information"
		return v.reply("info", "emw-message")
	case !exists:
		v.Text = "There is currently no text in this page."
		r := v.reply("unwritten", "emw-message")
		r.status = http.StatusNotFound
		return r
	case q.has("oldid"):
		if v.Revision = number(q["oldid"]); v.Revision == v.Revisions[0].ID {
			v.Revision = 0
		}
	}
	switch {
	case v.Category != nil:
		return v.category(q)
	case v.Article == nil || v.Namespace != 0:
		return v.reply(map[bool]string{true: "talk", false: "page"}[v.Namespace%2 == 1], "emw-page")
	case v.Revision != 0:
		return v.reply("revision", "emw-article")
	case q.has("printable"):
		return v.reply("print", "emw-article", v.Article.object())
	}
	return v.reply("article", "emw-article", v.Article.object())
}

// category lists members from some name on, or those before it.
func (v mwView) category(q arguments) *reply {
	all := v.Category.Members
	at := func(name string) int {
		i, _ := slices.BinarySearchFunc(all, webworld.WikiName(name), func(a *ecoArticlePage, name string) int { return strings.Compare(a.Name, name) })
		return i
	}
	start := 0
	if name := q["pagefrom"]; name != "" {
		start = at(name)
	} else if name := q["pageuntil"]; name != "" {
		start = max(0, at(name)-mwMembers)
	}
	v.List = cutOut(all, start, mwMembers)
	if start > 0 {
		v.Before = all[start].Name
	}
	if start+mwMembers < len(all) {
		v.After = all[start+mwMembers].Name
	}
	return v.reply("list", "emw-category")
}

func (v mwView) history(q arguments) *reply {
	if q["feed"] != "" {
		return &reply{kind: "feed", view: "emw-feed", data: v, mime: "application/atom+xml; charset=utf-8"}
	}
	v.Action, v.Title = "history", v.Title+": Revision history"
	limit := mwRevisions
	if n := number(q["limit"]); n > 0 {
		limit = n
	}
	v.Revisions = v.Revisions[:min(limit, len(v.Revisions))]
	return v.reply("history", "emw-history")
}

// diff shows two revisions, and below them the newer one as a page.
func (v mwView) diff(q arguments) *reply {
	v.Class = " mw-diff"
	v.Title = "Difference between revisions of \"" + v.Title + "\""
	var objects []string
	at := number(q["diff"])
	if q["diff"] == "prev" {
		at = number(q["oldid"])
	}
	if v.Article != nil && v.Namespace == 0 && (q["diff"] == "cur" || at == v.Revisions[0].ID || q["diff"] == "next" && len(v.Revisions) > 1 && number(q["oldid"]) == v.Revisions[1].ID) {
		objects = append(objects, v.Article.object())
	} else {
		v.Revision = max(at, 1)
	}
	return v.reply("diff", "emw-diff", objects...)
}

func (v mwView) special(rest string, q arguments) *reply {
	v.Name, v.Robots = "Special:"+rest, "noindex,nofollow,"
	page, of, _ := strings.Cut(rest, "/")
	v.Of, v.Class = of, " mw-special-"+strings.ToUpper(page[:min(1, len(page))])+strings.ToLower(page[min(1, len(page)):])
	v.Text = "This page asks you to log in."
	switch page {
	case "Random":
		return redirectTo(v.base + "/wiki/" + v.articles[len(v.articles)/2].Name)
	case "AllPages":
		start, _ := slices.BinarySearchFunc(v.articles, webworld.WikiName(q["from"]), func(a *ecoArticlePage, name string) int { return strings.Compare(a.Name, name) })
		v.Title, v.List = "All pages", cutOut(v.articles, start, mwAllPages)
		if start+mwAllPages < len(v.articles) {
			v.After = v.articles[start+mwAllPages].Name
		}
		if start > 0 {
			v.Before = v.articles[max(0, start-mwAllPages)].Name
		}
		return v.reply("list", "emw-allpages")
	case "RecentChanges", "RecentChangesLinked":
		if q["feed"] != "" {
			return &reply{kind: "feed", view: "emw-feed", data: v, mime: "application/atom+xml; charset=utf-8"}
		}
		v.Title, v.List = "Recent changes", v.Changed()
		return v.reply("changes", "emw-changes")
	case "WhatLinksHere":
		v.Title = "Pages that link to \"" + strings.ReplaceAll(of, "_", " ") + "\""
		for _, a := range v.articles {
			if slices.ContainsFunc(a.Sections, func(s ecoSection) bool {
				return slices.ContainsFunc(s.Links, func(to *ecoArticlePage) bool { return to.Name == of })
			}) {
				v.List = append(v.List, a)
			}
		}
		return v.reply("special", "emw-links")
	case "Contributions", "Log":
		v.Title = "User contributions for " + of
		for _, a := range v.articles {
			if a.Last().User == of {
				v.List = append(v.List, a)
			}
		}
		return v.reply("special", "emw-changes")
	case "NewPages", "LongPages", "ShortPages":
		v.Title, v.List = page, cutOut(v.articles, number(q["offset"]), 50)
		return v.reply("special", "emw-links")
	case "SpecialPages", "ListUsers", "Categories":
		v.Title = page
		return v.reply("special", "emw-special")
	case "Search", "UserLogin", "CreateAccount", "MyTalk", "MyContributions", "CiteThisPage", "Upload", "PasswordReset", "Statistics":
		v.Title, v.Text = page, "Special page"
		return v.reply(map[bool]string{true: "login", false: "special"}[page == "UserLogin" || page == "CreateAccount"], "emw-message")
	}
	return nil
}
