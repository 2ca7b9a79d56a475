package endless

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ThirdTraps are sites without end whose author had not read the rules. Three of the four were not closed when the rules were first run on them.
func ThirdTraps() []Site {
	return []Site{
		{Host: "source.example", Worth: 56, wanted: sourceWanted, answer: source},
		{Host: "messages.example", Worth: 55, wanted: messagesWanted, answer: messages},
		{Host: "chairs.example", Worth: 58, wanted: chairsWanted, answer: chairs},
		{Host: "whatson.example", Worth: 53, wanted: whatsOnWanted, answer: whatsOn},
	}
}

// ThirdHonest are sites that end, by the same author.
func ThirdHonest() []Site {
	return honest([]Site{
		{Host: "gazette.example", answer: gazette},
		{Host: "minutes.example", answer: minutes},
		{Host: "museum.example", answer: museum},
		{Host: "register.example", answer: register},
	})
}

// Wanted reports whether an archivist would miss a page of the site.
func (s Site) Wanted(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (s.Honest || s.wanted != nil && s.wanted(u))
}

const sourceRevisions, sourceFiles = 30, 20

var sourceFolders = []string{"src", "lib", "doc", "test"}

// sourceLines are the lines of a file as it was after a revision.
func (p *pen) sourceLines(file, revision int) (lines []string, changed []int) {
	for line := range 8 {
		last := 0
		for r := 1; r <= revision; r++ {
			if r%8 == line && p.sourceTouches(r, file) {
				last = r
			}
		}
		lines = append(lines, p.random("source %d line %d of %d", file, line, last).sentences(1))
		changed = append(changed, last)
	}
	return lines, changed
}

func (p *pen) sourceTouches(revision, file int) bool {
	return revision == 0 || p.random("revision %d touches %d", revision, file).IntN(5) == 0
}

func (p *pen) sourceNode(revision int) string {
	return p.random("node %d", revision).hex()[:12]
}

func (p *pen) sourcePath(file int) string {
	return fmt.Sprintf("%s/%s%d.txt", sourceFolders[file%4], p.random("source name %d", file).word(), file)
}

// sourceWanted are the files as they are now, and the page of each revision.
func sourceWanted(u *url.URL) bool {
	return u.RawQuery == "" && (u.Path == "/" || strings.HasPrefix(u.Path, "/file/tip/") || strings.HasPrefix(u.Path, "/rev/"))
}

// source is a web view of a repository: each file is shown as it was after each revision, with its authors, its log and its differences.
func source(p *pen, u *url.URL) (page, bool) {
	if u.Path == "/" {
		out := page{title: "Change log", text: p.sentences(2), links: []link{{"/file/tip/", "files"}}}
		for r := sourceRevisions - 1; r >= 0; r-- {
			out.links = append(out.links, link{"/rev/" + p.sourceNode(r), p.random("revision %d", r).sentences(1)})
		}
		return out, true
	}
	parts := strings.SplitN(strings.TrimPrefix(u.Path, "/"), "/", 3)
	if len(parts) < 2 {
		return page{}, false
	}
	revision := sourceRevisions - 1
	if parts[1] != "tip" {
		for revision >= 0 && p.sourceNode(revision) != parts[1] {
			revision--
		}
	}
	if revision < 0 {
		return page{}, false
	}
	if parts[0] == "rev" && len(parts) == 2 && parts[1] != "tip" {
		return p.sourceRevision(revision), true
	}
	if len(parts) < 3 {
		return page{}, false
	}
	for f := range sourceFiles {
		if p.sourcePath(f) == parts[2] {
			return p.sourceFile(parts[0], parts[1], f, revision, u.RawQuery)
		}
	}
	folder := strings.TrimSuffix(parts[2], "/")
	if parts[0] != "file" || u.RawQuery != "" || folder != "" && !slices.Contains(sourceFolders, folder) {
		return page{}, false
	}
	out := page{title: "Files of /" + parts[2] + " at " + parts[1], text: fmt.Sprintf("Directory /%s of revision %d.", parts[2], revision), links: []link{home, {"/file/" + parts[1] + "/", "up"}, {"/file/tip/" + parts[2], "tip"}}}
	for i, name := range sourceFolders {
		if folder == "" {
			out.links = append(out.links, link{fmt.Sprintf("/file/%s/%s/", parts[1], name), name})
			continue
		}
		for f := i; f < sourceFiles && name == folder; f += 4 {
			out.links = append(out.links, link{fmt.Sprintf("/file/%s/%s", parts[1], p.sourcePath(f)), p.sourcePath(f)}, link{fmt.Sprintf("/log/%s/%s", parts[1], p.sourcePath(f)), "revisions"})
		}
	}
	return out, true
}

// sourceRevision says what a revision changed.
func (p *pen) sourceRevision(r int) page {
	out := page{title: "Revision " + p.sourceNode(r), text: p.random("revision %d", r).sentences(1), links: []link{home, {"/file/" + p.sourceNode(r) + "/", "browse"}}}
	for _, near := range []int{r - 1, r + 1} {
		if near >= 0 && near < sourceRevisions {
			out.links = append(out.links, link{"/rev/" + p.sourceNode(near), "revision " + p.sourceNode(near)})
		}
	}
	for f := range sourceFiles {
		if !p.sourceTouches(r, f) {
			continue
		}
		lines, _ := p.sourceLines(f, r)
		out.text += " " + p.sourcePath(f) + ": + " + lines[r%8]
		for _, view := range []string{"file", "annotate", "diff", "comparison", "log"} {
			out.links = append(out.links, link{fmt.Sprintf("/%s/%s/%s", view, p.sourceNode(r), p.sourcePath(f)), view})
		}
	}
	return out
}

// sourceFile is one of the views of a file after a revision.
func (p *pen) sourceFile(view, at string, f, r int, query string) (page, bool) {
	path := p.sourcePath(f)
	out := page{title: path + " at " + at, links: []link{home, {"/file/" + at + "/" + path[:strings.Index(path, "/")+1], "browse"}, {"/rev/" + p.sourceNode(r), "changeset"}}}
	for _, other := range []string{"file", "annotate", "diff", "comparison", "log"} {
		out.links = append(out.links, link{"/" + other + "/" + at + "/" + path, other})
	}
	before, after := r-1, r+1
	for before > 0 && !p.sourceTouches(before, f) {
		before--
	}
	for after < sourceRevisions && !p.sourceTouches(after, f) {
		after++
	}
	if before >= 0 {
		out.links = append(out.links, link{"/" + view + "/" + p.sourceNode(before) + "/" + path, "parent " + p.sourceNode(before)})
	}
	if after < sourceRevisions {
		out.links = append(out.links, link{"/" + view + "/" + p.sourceNode(after) + "/" + path, "child " + p.sourceNode(after)})
	}
	lines, changed := p.sourceLines(f, r)
	switch view {
	case "file":
		out.text = strings.Join(lines, " ")
	case "annotate":
		for i, line := range lines {
			out.text += fmt.Sprintf("%s %d: %s ", p.random("author of %d", changed[i]).word(), i+1, line)
		}
	case "diff":
		out.text = fmt.Sprintf("--- a/%s +++ b/%s - %s + %s", path, path, p.random("source %d line %d of %d", f, r%8, 0).sentences(1), lines[r%8])
	case "comparison":
		old, _ := p.sourceLines(f, max(before, 0))
		out.text = strings.Join(old, " ") + " " + strings.Join(lines, " ")
	case "log":
		count := 60
		if query != "" {
			count, _ = strconv.Atoi(strings.TrimPrefix(query, "revcount="))
			if count < 1 || query != fmt.Sprintf("revcount=%d", count) {
				return page{}, false
			}
		}
		for v := r; v >= 0 && r-v < count; v-- {
			if p.sourceTouches(v, f) {
				out.text += p.random("revision %d", v).sentences(1) + " "
				out.links = append(out.links, link{"/file/" + p.sourceNode(v) + "/" + path, "file"}, link{"/diff/" + p.sourceNode(v) + "/" + path, "diff"}, link{"/annotate/" + p.sourceNode(v) + "/" + path, "annotate"})
			}
		}
		out.links = append(out.links, link{fmt.Sprintf("?revcount=%d", max(1, count/2)), "less"}, link{fmt.Sprintf("?revcount=%d", count*2), "more"})
		return out, true
	default:
		return page{}, false
	}
	return out, query == ""
}

const messageTopics, messagePosts, messageMembers = 12, 30, 15

func (p *pen) messagePost(id int) string { return p.random("message %d", id).sentences(1 + id%4) }

func messageAuthor(id int) int { return id * 7 % messageMembers }

// messagesWanted are the boards, each page of each topic, and the members.
func messagesWanted(u *url.URL) bool {
	q, start := u.RawQuery, ""
	switch {
	case u.Path == "/":
		return q == ""
	case strings.HasPrefix(q, "topic="):
		_, start, _ = strings.Cut(q, ".")
		return slices.Contains([]string{"0", "10", "20"}, start)
	case strings.HasPrefix(q, "board="):
		return strings.HasSuffix(q, ".0")
	}
	return strings.HasPrefix(q, "action=profile;u=")
}

// messages is a forum in which each message has an address, a reply that quotes it and a report, and each list an order.
func messages(p *pen, u *url.URL) (page, bool) {
	if u.Path == "/" {
		out := page{title: "Message boards", text: p.random("boards").sentences(2), links: []link{{"/index.php?action=recent", "Recent posts"}}}
		for b := range 3 {
			out.links = append(out.links, link{fmt.Sprintf("/index.php?board=%d.0", b+1), p.random("board %d", b).word()})
		}
		return out, u.RawQuery == ""
	}
	args := map[string]string{}
	for _, arg := range strings.Split(u.RawQuery, ";") {
		key, value, _ := strings.Cut(arg, "=")
		args[key] = value
	}
	if u.Path != "/index.php" {
		return page{}, false
	}
	var topic, start int
	if of, from, ok := strings.Cut(args["topic"], "."); ok {
		topic, _ = strconv.Atoi(of)
		if id, isMessage := strings.CutPrefix(from, "msg"); isMessage {
			n, _ := strconv.Atoi(id)
			start = n % messagePosts / 10 * 10
		} else {
			start, _ = strconv.Atoi(from)
		}
		if topic < 1 || topic > messageTopics || start < 0 || start >= messagePosts {
			return page{}, false
		}
	}
	switch args["action"] {
	case "profile", "recent":
		return p.messageList(args)
	case "post", "reporttm", "printpage":
		return p.messageForm(args, topic-1)
	}
	switch {
	case topic > 0:
		switch args["prev_next"] {
		case "prev":
			topic, start = (topic+messageTopics-2)%messageTopics+1, 0
		case "next":
			topic, start = topic%messageTopics+1, 0
		}
		return p.messageTopic(topic-1, start), true
	case args["board"] != "":
		return p.messageBoard(args)
	}
	return page{}, false
}

// messageTopic is a page of ten messages.
func (p *pen) messageTopic(topic, start int) page {
	out := page{title: p.random("topic %d", topic).sentences(1), links: []link{home, {fmt.Sprintf("/index.php?board=%d.0", topic%3+1), "Board"}}}
	here := fmt.Sprintf("topic=%d.%d", topic+1, start)
	last := topic*messagePosts + messagePosts - 1
	for id := topic*messagePosts + start; id < topic*messagePosts+start+10; id++ {
		out.text += p.messagePost(id) + " "
		out.links = append(out.links,
			link{fmt.Sprintf("/index.php?topic=%d.msg%d#msg%d", topic+1, id, id), fmt.Sprintf("Reply #%d", id%messagePosts)},
			link{fmt.Sprintf("/index.php?action=profile;u=%d", messageAuthor(id)+1), p.random("member %d", messageAuthor(id)).word()},
			link{fmt.Sprintf("/index.php?action=post;quote=%d;%s;last_msg=%d", id, here, last), "Quote"},
			link{fmt.Sprintf("/index.php?action=reporttm;%s;msg=%d", here, id), "Report to moderator"})
	}
	for s := 0; s < messagePosts; s += 10 {
		out.links = append(out.links, link{fmt.Sprintf("/index.php?topic=%d.%d", topic+1, s), strconv.Itoa(s/10 + 1)})
	}
	out.links = append(out.links, link{"/index.php?" + here + ";prev_next=prev", "previous"}, link{"/index.php?" + here + ";prev_next=next", "next"},
		link{fmt.Sprintf("/index.php?action=post;%s;last_msg=%d", here, last), "Reply"}, link{fmt.Sprintf("/index.php?action=printpage;topic=%d.0", topic+1), "Print"})
	return out
}

// messageForm is a form for an answer or a report, or a topic as it is printed.
func (p *pen) messageForm(args map[string]string, topic int) (page, bool) {
	if topic < 0 {
		return page{}, false
	}
	first := topic * messagePosts
	back := link{"/index.php?topic=" + args["topic"], "Back"}
	out := page{title: p.random("topic %d", topic).sentences(1), links: []link{home, back}}
	switch args["action"] {
	case "reporttm":
		out.title = "Report to moderator"
		out.text = "Write why this message should be looked at. It is sent to the moderators of this board. Name, address, reason."
	case "printpage":
		for id := range messagePosts {
			out.text += p.random("member %d", messageAuthor(first+id)).word() + " wrote: " + p.messagePost(first+id) + " "
		}
	default:
		out.title = "Reply: " + out.title
		if quoted, err := strconv.Atoi(args["quote"]); err == nil {
			out.text = "Quote from: " + p.random("member %d", messageAuthor(quoted)).word() + ". " + p.messagePost(quoted)
		}
		out.text += " Subject, message, verification. Topic summary: "
		for id := messagePosts - 1; id > messagePosts-6; id-- {
			out.text += p.messagePost(first+id) + " "
			out.links = append(out.links, link{fmt.Sprintf("/index.php?action=post;quote=%d;topic=%d.20;last_msg=%d", first+id, topic+1, first+messagePosts-1), "Insert quote"})
		}
	}
	return out, true
}

// messageBoard lists the topics of a board in an order.
func (p *pen) messageBoard(args map[string]string) (page, bool) {
	board, _ := strconv.Atoi(strings.TrimSuffix(args["board"], ".0"))
	if board < 1 || board > 3 {
		return page{}, false
	}
	out := page{title: "Board " + p.random("board %d", board-1).word(), links: []link{home}}
	for t := board - 1; t < messageTopics; t += 3 {
		out.links = append(out.links, link{fmt.Sprintf("/index.php?topic=%d.0", t+1), p.random("topic %d", t).sentences(1)})
	}
	if args["sort"] != "" {
		slices.Reverse(out.links)
	}
	for _, by := range []string{"subject", "starter", "last_poster", "replies", "views", "last_post"} {
		out.links = append(out.links, link{fmt.Sprintf("/index.php?board=%d.0;sort=%s", board, by), by}, link{fmt.Sprintf("/index.php?board=%d.0;sort=%s;desc", board, by), by})
	}
	return out, true
}

// messageList is a member, or the newest messages of all.
func (p *pen) messageList(args map[string]string) (page, bool) {
	if args["action"] == "profile" {
		n, _ := strconv.Atoi(args["u"])
		return page{title: "Profile of " + p.random("member %d", n-1).word(), text: fmt.Sprintf("Posts: %d. Position: member. Registered in %d. Signature: %s", 10+n*3, 2005+n, p.random("signature %d", n).sentences(1)), links: []link{home}}, n >= 1 && n <= messageMembers
	}
	start, _ := strconv.Atoi(args["start"])
	out := page{title: "Recent posts", links: []link{home}}
	for i := start; i < min(start+10, messageTopics*messagePosts); i++ {
		id := i%messageTopics*messagePosts + messagePosts - 1 - i/messageTopics
		out.text += p.messagePost(id) + " "
		out.links = append(out.links, link{fmt.Sprintf("/index.php?topic=%d.msg%d#msg%d", id/messagePosts+1, id, id), "Read"}, link{fmt.Sprintf("/index.php?action=post;topic=%d.20;last_msg=%d", id/messagePosts+1, id/messagePosts*messagePosts+messagePosts-1), "Reply"})
	}
	for s := 0; s < 100; s += 10 {
		out.links = append(out.links, link{fmt.Sprintf("/index.php?action=recent;start=%d", s), strconv.Itoa(s/10 + 1)})
	}
	return out, start >= 0 && start < 100
}

const chairCount = 30

var chairFacets = []struct {
	name   string
	values []string
}{
	{"material", []string{"oak", "beech", "ash", "steel", "rattan", "plastic"}},
	{"colour", []string{"red", "blue", "black", "white", "green", "grey", "natural", "yellow"}},
	{"maker", []string{"harrow", "lund", "vireo", "tamsin", "orsted"}},
	{"room", []string{"kitchen", "office", "garden", "nursery", "hall"}},
}

func (p *pen) chairHas(chair, facet int) string {
	values := chairFacets[facet].values
	return values[p.random("chair %d facet %d", chair, facet).IntN(len(values))]
}

func (p *pen) chairName(chair int) string {
	return p.random("chair %d", chair).word() + " " + p.chairHas(chair, 0) + " chair"
}

func (p *pen) chairLine(chair int) string {
	return fmt.Sprintf("%s, %s, by %s, %d euros.", p.chairName(chair), p.chairHas(chair, 1), p.chairHas(chair, 2), 40+p.random("price %d", chair).IntN(300))
}

// chairsWanted are the chairs, the list of all of them, and the list of each single value.
func chairsWanted(u *url.URL) bool {
	rest, list := strings.CutPrefix(u.Path, "/chairs/")
	if !list {
		return u.Path == "/" || strings.HasPrefix(u.Path, "/chair/")
	}
	values := 0
	for _, part := range strings.Split(strings.TrimSuffix(rest, "/"), "/") {
		if strings.HasPrefix(part, "sort-") || strings.Contains(part, ",") {
			return false
		}
		if part != "" && !strings.HasPrefix(part, "page-") {
			values++
		}
	}
	return values < 2
}

// chairs is a shop that lets the reader choose several values of each facet, all of which are part of the path.
func chairs(p *pen, u *url.URL) (page, bool) {
	var n int
	if name, ok := strings.CutPrefix(u.Path, "/chair/"); ok {
		n, _ = strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
		if n < 0 || n >= chairCount || name != fmt.Sprintf("chair-%d", n) {
			return page{}, false
		}
		out := page{title: p.chairName(n), text: p.chairLine(n) + " " + p.random("chair text %d", n).sentences(4), images: []string{fmt.Sprintf("/img/chair-%d.jpg", n)}, links: []link{home, {"/chairs/", "All chairs"}}}
		for f, facet := range chairFacets {
			out.links = append(out.links, link{fmt.Sprintf("/chairs/%s-%s/", facet.name, p.chairHas(n, f)), p.chairHas(n, f)})
		}
		return out, true
	}
	rest, ok := strings.CutPrefix(u.Path, "/chairs/")
	if !ok {
		return page{title: "The chair shop", text: p.random("chair shop").sentences(3), links: []link{{"/chairs/", "All chairs"}}}, u.Path == "/"
	}
	chosen, order, from := make([][]string, len(chairFacets)), "", 1
	for _, part := range strings.Split(strings.TrimSuffix(rest, "/"), "/") {
		name, value, _ := strings.Cut(part, "-")
		switch at := slices.IndexFunc(chairFacets, func(f struct {
			name   string
			values []string
		}) bool {
			return f.name == name
		}); {
		case part == "":
		case name == "sort":
			order = value
		case name == "page":
			from, _ = strconv.Atoi(value)
		case at < 0:
			return page{}, false
		default:
			chosen[at] = strings.Split(value, ",")
		}
	}
	return p.chairList(chosen, order, from)
}

func chairPath(chosen [][]string, order string, from int) string {
	path := "/chairs/"
	for f, values := range chosen {
		if len(values) > 0 {
			path += chairFacets[f].name + "-" + strings.Join(values, ",") + "/"
		}
	}
	if order != "" {
		path += "sort-" + order + "/"
	}
	if from > 1 {
		path += fmt.Sprintf("page-%d/", from)
	}
	return path
}

// chairList are ten of the chairs that fit.
func (p *pen) chairList(chosen [][]string, order string, from int) (page, bool) {
	var fit []int
	for n := range chairCount {
		if !slices.ContainsFunc([]int{0, 1, 2, 3}, func(f int) bool { return len(chosen[f]) > 0 && !slices.Contains(chosen[f], p.chairHas(n, f)) }) {
			fit = append(fit, n)
		}
	}
	if order != "" {
		slices.SortFunc(fit, func(a, b int) int { return strings.Compare(p.chairLine(a)+order, p.chairLine(b)+order) })
	}
	out := page{title: "Chairs", text: fmt.Sprintf("%d chairs.", len(fit)), links: []link{home}}
	for f, values := range chosen {
		if len(values) > 0 {
			out.title += ", " + chairFacets[f].name + " " + strings.Join(values, " or ")
		}
	}
	if from < 1 || from > 1 && (from-1)*10 >= len(fit) {
		return page{}, false
	}
	shown := fit[(from-1)*10 : min(from*10, len(fit))]
	if len(fit) == 0 {
		out.text, shown = "No chair has all that you chose. Others liked these:", []int{3, 11, 19}
	}
	for _, n := range shown {
		out.text += " " + p.chairLine(n)
		out.images = append(out.images, fmt.Sprintf("/img/chair-%d-small.jpg", n))
		out.links = append(out.links, link{fmt.Sprintf("/chair/chair-%d", n), p.chairName(n)})
	}
	for f, facet := range chairFacets {
		for _, value := range facet.values {
			next := slices.Clone(chosen)
			if at := slices.Index(chosen[f], value); at >= 0 {
				next[f] = slices.Delete(slices.Clone(chosen[f]), at, at+1)
			} else {
				next[f] = append(slices.Clone(chosen[f]), value)
			}
			out.links = append(out.links, link{chairPath(next, order, 1), value})
		}
	}
	for _, by := range []string{"price", "name", "newest"} {
		out.links = append(out.links, link{chairPath(chosen, by, 1), "by " + by})
	}
	if from*10 < len(fit) {
		out.links = append(out.links, link{chairPath(chosen, order, from+1), "next page"})
	}
	return out, true
}

var whatsOnPlaces = []string{"aldbury", "brackley", "calne", "deddington", "evesham", "fairford", "gosford", "highworth", "ilminster", "kington", "ledbury", "marlow"}

var whatsOnToday = time.Date(2026, 6, 10, 0, 0, 0, 0, time.UTC)

const whatsOnEvents = 20

// whatsOnEvent is where and when an event is.
func (p *pen) whatsOnEvent(n int) (place int, day time.Time) {
	return n * 5 % len(whatsOnPlaces), whatsOnToday.AddDate(0, 0, 2+n*4)
}

func (p *pen) whatsOnLine(n int) string {
	place, day := p.whatsOnEvent(n)
	return fmt.Sprintf("%s in %s on %s.", strings.TrimSuffix(p.random("whats on %d", n).sentences(1), "."), whatsOnPlaces[place], day.Format("Monday, 2 January 2006"))
}

// whatsOnWanted are the events, the places, and the days of a place on which something is on.
func whatsOnWanted(u *url.URL) bool {
	rest, list := strings.CutPrefix(u.Path, "/whats-on/")
	if !list {
		return u.Path == "/" || strings.HasPrefix(u.Path, "/event/")
	}
	place, date, dated := strings.Cut(rest, "/")
	if !dated || u.RawQuery != "" {
		return u.RawQuery == ""
	}
	for n := range whatsOnEvents {
		if at, day := (*pen)(nil).whatsOnEvent(n); whatsOnPlaces[at] == place && day.Format(time.DateOnly) == date {
			return true
		}
	}
	return false
}

// whatsOn lists the events of each place on each day, most of which have none, within a distance.
func whatsOn(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/event/%d"); ok && n[0] < whatsOnEvents {
		place, day := p.whatsOnEvent(n[0])
		return page{title: p.random("whats on %d", n[0]).sentences(1), text: p.whatsOnLine(n[0]) + " " + p.random("whats on text %d", n[0]).sentences(6), links: []link{home, {"/whats-on/" + whatsOnPlaces[place], whatsOnPlaces[place]}, {fmt.Sprintf("/whats-on/%s/%s", whatsOnPlaces[place], day.Format(time.DateOnly)), "On this day"}}}, true
	}
	rest, ok := strings.CutPrefix(u.Path, "/whats-on/")
	if !ok {
		out := page{title: "What's on", text: p.random("what is on").sentences(2)}
		for _, place := range whatsOnPlaces {
			out.links = append(out.links, link{"/whats-on/" + place, place})
		}
		return out, u.Path == "/" && u.RawQuery == ""
	}
	name, date, dated := strings.Cut(rest, "/")
	place := slices.Index(whatsOnPlaces, name)
	if place < 0 {
		return page{}, false
	}
	if !dated {
		out := page{title: "What's on in " + name, text: p.random("place %d", place).sentences(3), links: []link{home, {fmt.Sprintf("/whats-on/%s/%s", name, whatsOnToday.Format(time.DateOnly)), "Today"}}}
		for n := range whatsOnEvents {
			if at, _ := p.whatsOnEvent(n); at == place {
				out.text += " " + p.whatsOnLine(n)
				out.links = append(out.links, link{fmt.Sprintf("/event/%d", n), "More"})
			}
		}
		return out, u.RawQuery == ""
	}
	day, err := time.Parse(time.DateOnly, date)
	miles, _ := strconv.Atoi(strings.TrimPrefix(u.RawQuery, "within="))
	if err != nil || u.RawQuery != "" && !slices.Contains([]int{5, 10, 25, 50}, miles) {
		return page{}, false
	}
	return p.whatsOnDay(place, day, miles), true
}

// whatsOnDay is what a place and those around it have on a day.
func (p *pen) whatsOnDay(place int, day time.Time, miles int) page {
	name := whatsOnPlaces[place]
	out := page{title: "What's on in " + name + " on " + day.Format("Monday, 2 January 2006"), links: []link{home, {"/whats-on/" + name, name}}}
	found, next := 0, -1
	for n := range whatsOnEvents {
		at, when := p.whatsOnEvent(n)
		away := (at - place + len(whatsOnPlaces)) % len(whatsOnPlaces)
		if when.Equal(day) && min(away, len(whatsOnPlaces)-away)*9 <= miles {
			found++
			out.text += p.whatsOnLine(n) + " "
			out.links = append(out.links, link{fmt.Sprintf("/event/%d", n), "More"})
		}
		if next < 0 && at == place && when.After(day) {
			next = n
		}
	}
	if found == 0 {
		out.text = "We know of nothing that is on in " + name + " on " + day.Format("Monday, 2 January 2006") + ". Do you? Write to us. "
	}
	if next >= 0 {
		out.text += "Next in " + name + ": " + p.whatsOnLine(next)
		out.links = append(out.links, link{fmt.Sprintf("/event/%d", next), "More"})
	}
	to := func(place, days, months int, query, anchor string) {
		out.links = append(out.links, link{fmt.Sprintf("/whats-on/%s/%s%s", whatsOnPlaces[place], day.AddDate(0, months, days).Format(time.DateOnly), query), anchor})
	}
	to(place, -1, 0, "", "Day before")
	to(place, 1, 0, "", "Day after")
	to(place, 7, 0, "", "In a week")
	to(place, 0, 1, "", "In a month")
	for _, near := range []int{1, 2, 10, 11} {
		near = (place + near) % len(whatsOnPlaces)
		to(near, 0, 0, "", whatsOnPlaces[near])
	}
	for _, far := range []int{5, 10, 25, 50} {
		to(place, 0, 0, fmt.Sprintf("?within=%d", far), fmt.Sprintf("%d miles", far))
	}
	return out
}

// read is a text as a machine reads it from an old print.
func (p *pen) read(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		switch p.IntN(14) {
		case 0:
			words[i] = strings.ReplaceAll(w, "e", "c")
		case 1:
			words[i] = strings.ReplaceAll(w, "h", "li")
		case 2:
			words[i] = strings.ReplaceAll(w, "m", "rn")
		case 3:
			words[i] = w[:len(w)/2] + "- " + w[len(w)/2:]
		}
	}
	return strings.ToValidUTF8(strings.Join(words, " "), "")
}

// gazette is a newspaper of 72 old issues: each page is a picture and what a machine read from it. The last page has the same advertisements for weeks.
func gazette(p *pen, u *url.URL) (page, bool) {
	days := []int{7, 14, 21}
	issue := func(n int) string { return fmt.Sprintf("/%d/%02d/%02d/", 1874+n/36, n/3%12+1, days[n%3]) }
	for n := range 72 {
		rest, ok := strings.CutPrefix(u.Path, issue(n))
		if !ok {
			continue
		}
		date := strings.Trim(issue(n), "/")
		out := page{title: "The Vale Gazette " + date, links: []link{home, {issue(n), "This issue"}, {issue(n)[:9], "This month"}}}
		if n < 71 {
			out.links = append(out.links, link{issue(n + 1), "Next issue"})
		}
		for i := 1; i <= 4; i++ {
			out.links = append(out.links, link{fmt.Sprintf("%sp%d", issue(n), i), fmt.Sprintf("Page %d", i)})
		}
		if rest == "" {
			out.text = "4 pages."
			return out, true
		}
		at, err := strconv.Atoi(strings.TrimPrefix(rest, "p"))
		if err != nil || rest != fmt.Sprintf("p%d", at) || at < 1 || at > 4 {
			return page{}, false
		}
		out.title += fmt.Sprintf(", page %d", at)
		out.images = []string{fmt.Sprintf("/scans/%s-%d.jpg", strings.ReplaceAll(date, "/", "-"), at)}
		switch {
		case p.random("gazette %d %d is faded", n, at).IntN(12) == 0:
			out.text = "The text of this page could not be read."
		case at == 4:
			for ad := range 6 {
				out.text += p.read(p.random("advertisement %d since %d", ad, (n+ad)/6).sentences(2)) + " "
			}
		default:
			out.text = p.read(p.random("gazette %d %d", n, at).sentences(16))
		}
		return out, true
	}
	for n := 0; n < 72; n += 3 {
		if u.Path == issue(n)[:9] {
			out := page{title: "The Vale Gazette " + strings.Trim(issue(n)[:9], "/"), links: []link{home}}
			for i := range 3 {
				out.links = append(out.links, link{issue(n + i), strings.Trim(issue(n+i), "/")})
			}
			return out, true
		}
	}
	out := page{title: "The Vale Gazette", text: p.random("gazette").sentences(4)}
	for n := 0; n < 72; n += 3 {
		out.links = append(out.links, link{issue(n)[:9], strings.Trim(issue(n)[:9], "/")})
	}
	return out, u.Path == "/"
}

// minutes are 14 sessions of a parliament by paragraphs, a third of which say the same few things, and what each of 20 members said.
func minutes(p *pen, u *url.URL) (page, bool) {
	member := func(session, paragraph int) int { return p.random("speaker %d %d", session, paragraph).IntN(20) }
	name := func(m int) string { return "Member for " + p.random("seat %d", m).word() }
	if n, ok := route(u, "/session/%d/paragraph/%d"); ok && n[0] >= 1 && n[0] <= 14 && n[1] >= 1 && n[1] <= 24 {
		who := member(n[0], n[1])
		out := page{title: fmt.Sprintf("Session %d, paragraph %d", n[0], n[1]), links: []link{home, {fmt.Sprintf("/session/%d/", n[0]), "This session"}, {fmt.Sprintf("/member/%d", who), name(who)}}}
		switch r := p.random("kind %d %d", n[0], n[1]); r.IntN(9) {
		case 0:
			out.text = "The motion was agreed to."
		case 1:
			out.text = fmt.Sprintf("The House divided: ayes %d, noes %d. The amendment was rejected.", r.IntN(90), 90+r.IntN(90))
		case 2:
			out.text = "The Speaker called the next item of the order of the day."
		default:
			out.text = name(who) + ": " + p.random("speech %d %d", n[0], n[1]).sentences(2+r.IntN(9))
		}
		for _, near := range []int{n[1] - 1, n[1] + 1} {
			if near >= 1 && near <= 24 {
				out.links = append(out.links, link{fmt.Sprintf("/session/%d/paragraph/%d", n[0], near), fmt.Sprintf("Paragraph %d", near)})
			}
		}
		return out, true
	}
	if n, ok := route(u, "/session/%d/"); ok && n[0] >= 1 && n[0] <= 14 {
		out := page{title: fmt.Sprintf("Session %d", n[0]), text: fmt.Sprintf("Minutes of the sitting on day %d. The Speaker opened the sitting at two o'clock.", n[0]*3), links: []link{home}}
		for i := 1; i <= 24; i++ {
			out.links = append(out.links, link{fmt.Sprintf("/session/%d/paragraph/%d", n[0], i), fmt.Sprintf("%d. %s", i, name(member(n[0], i)))})
		}
		return out, true
	}
	if n, ok := route(u, "/member/%d"); ok && n[0] < 20 {
		out := page{title: name(n[0]), text: "Spoke in these paragraphs.", links: []link{home}}
		for s := 1; s <= 14; s++ {
			for i := 1; i <= 24; i++ {
				if member(s, i) == n[0] {
					out.links = append(out.links, link{fmt.Sprintf("/session/%d/paragraph/%d", s, i), fmt.Sprintf("Session %d, paragraph %d", s, i)})
				}
			}
		}
		return out, true
	}
	return p.list("Minutes of the House", "/session/%d/", "Session %d", 1, 15), u.Path == "/"
}

// museum has 420 finds, each of which is described by the same few words, some of them with a picture, in lists of 20.
func museum(p *pen, u *url.URL) (page, bool) {
	id := func(n int) string { return fmt.Sprintf("%d.%d.%d", 1931+n/140, n/20%7+1, n%20+1) }
	what := func(n int) string {
		r := p.random("find %d", n)
		return []string{"Potsherd", "Bead", "Nail", "Flint flake", "Bone pin", "Tile fragment"}[r.IntN(6)]
	}
	if rest, ok := strings.CutPrefix(u.Path, "/object/"); ok {
		for n := range 420 {
			if rest != id(n) {
				continue
			}
			r := p.random("find %d measured", n)
			out := page{title: what(n), text: fmt.Sprintf("%s. %s. %d by %d mm. Trench %d, layer %d. Not on display. Inventory number %s.", what(n),
				[]string{"Roman", "Iron Age", "Medieval", "Undated"}[r.IntN(4)], 5+r.IntN(60), 5+r.IntN(40), n/20%7+1, 1+r.IntN(5), id(n)), links: []link{home, {fmt.Sprintf("/browse?page=%d", n/20), "List"}}}
			if r.IntN(3) == 0 {
				out.images = []string{"/media/" + id(n) + ".jpg"}
			}
			if r.IntN(8) == 0 {
				out.text += " " + p.random("find %d described", n).sentences(3)
			}
			for _, near := range []int{n - 1, n + 1, r.IntN(420)} {
				if near >= 0 && near < 420 {
					out.links = append(out.links, link{"/object/" + id(near), what(near) + " " + id(near)})
				}
			}
			return out, true
		}
		return page{}, false
	}
	if n, ok := route(u, "/browse?page=%d"); ok && n[0] < 21 {
		out := page{title: "Collection", text: fmt.Sprintf("Page %d of 21.", n[0]+1), links: []link{home}}
		for i := n[0] * 20; i < n[0]*20+20; i++ {
			out.links = append(out.links, link{"/object/" + id(i), what(i) + " " + id(i)})
		}
		for _, near := range []int{n[0] - 1, n[0] + 1} {
			if near >= 0 && near < 21 {
				out.links = append(out.links, link{fmt.Sprintf("/browse?page=%d", near), "turn"})
			}
		}
		return out, true
	}
	return page{title: "The collection", text: p.random("museum").sentences(4), links: []link{{"/browse?page=0", "Browse"}}}, u.Path == "/"
}

// register has 280 persons of a family, a third of whom are said to live and nothing else, their families and their names.
func register(p *pen, u *url.URL) (page, bool) {
	const persons = 280
	first := []string{"Anna", "Josef", "Maria", "Karl", "Elisabeth", "Georg", "Katharina", "Johann"}
	last := []string{"Weber", "Lang", "Huber", "Moser", "Gruber", "Pichler", "Auer", "Eder", "Haas", "Koller", "Brandl", "Reiter"}
	surname := func(n int) string { return last[p.random("surname %d", n).IntN(len(last))] }
	name := func(n int) string { return first[p.random("first name %d", n).IntN(len(first))] + " " + surname(n) }
	person := func(n int) link { return link{fmt.Sprintf("/person/I%04d", n), name(n)} }
	lives := func(n int) bool { return n > 120 && p.random("life %d", n).IntN(5) < 3 }
	var n int
	if _, err := fmt.Sscanf(u.Path, "/person/I%d", &n); err == nil && u.Path == person(n).url && n < persons {
		out := page{title: name(n), links: []link{home, {"/surname/" + surname(n), surname(n)}}}
		if n > 0 {
			out.links = append(out.links, person((n-1)/3), link{fmt.Sprintf("/family/F%04d", (n-1)/3), "Parents"})
		}
		if n*3+1 < persons {
			out.links = append(out.links, link{fmt.Sprintf("/family/F%04d", n), "Family"})
		}
		if out.text = "Living. Details are withheld."; !lives(n) {
			r := p.random("dates %d", n)
			born := 1640 + r.IntN(250)
			out.text = fmt.Sprintf("Born on %d.%d.%d, parish book %d, leaf %d. Died on %d.%d.%d.", 1+r.IntN(28), 1+r.IntN(12), born, 1+r.IntN(9), 1+r.IntN(300), 1+r.IntN(28), 1+r.IntN(12), born+r.IntN(80))
			if r.IntN(4) == 0 {
				out.text += " Note: " + p.random("note %d", n).sentences(2)
			}
		}
		return out, true
	}
	if _, err := fmt.Sscanf(u.Path, "/family/F%d", &n); err == nil && u.Path == fmt.Sprintf("/family/F%04d", n) && n*3+1 < persons {
		out := page{title: "Family of " + name(n), text: "Parents and children.", links: []link{home, person(n)}}
		for c := n*3 + 1; c <= n*3+3 && c < persons; c++ {
			out.links = append(out.links, person(c))
		}
		return out, true
	}
	if of, ok := strings.CutPrefix(u.Path, "/surname/"); ok && slices.Contains(last, of) {
		out := page{title: "Persons named " + of, links: []link{home}}
		for n := range persons {
			if surname(n) == of {
				out.links = append(out.links, person(n))
			}
		}
		return out, true
	}
	out := page{title: "Register of a family", text: p.random("register").sentences(3), links: []link{person(0)}}
	for _, of := range last {
		out.links = append(out.links, link{"/surname/" + of, of})
	}
	return out, u.Path == "/"
}
