package recognition

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Labelled is a line of index.jsonl: a saved page with its labels.
type Labelled struct {
	File  string `json:"file"`
	CMS   string `json:"cms"`
	Level string `json:"level"`
	URL   string `json:"url"`
	// Doubt is the reason why the labels may be wrong. Pages with a doubt do not count for levels; if it begins with
	// "not ", they do not count for applications either.
	Doubt string `json:"doubt,omitempty"`
}

// MaxLine bounds a line of the index, in bytes.
const MaxLine = 1 << 20

// Read reads DIR/index.jsonl, and the doubts about its labels from a file of lines "FILE<tab>REASON" if one
// is named.
func Read(dir, doubts string) ([]Labelled, error) {
	doubt, err := readDoubts(doubts)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(dir, "index.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("the folder must hold the labels of its pages: %w", err)
	}
	defer func() { _ = f.Close() }()
	var list []Labelled
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, MaxLine)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var l Labelled
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", f.Name(), n, err)
		}
		if l.File == "" || l.CMS == "" {
			return nil, fmt.Errorf("%s:%d: a line must name file and cms", f.Name(), n)
		}
		if why := doubt[l.File]; why != "" {
			l.Doubt = why
		}
		list = append(list, l)
	}
	return list, lines.Err()
}

func readDoubts(file string) (map[string]string, error) {
	doubt := map[string]string{}
	if file == "" {
		return doubt, nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, why, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("%s:%d: a line must be a file, a tab and the reason", file, n)
		}
		doubt[name] = why
	}
	return doubt, nil
}

// names maps names of applications in labels to those in the knowledge base, where they differ.
var names = map[string]string{"HackerNews": "Hacker News", "FluxBB-PunBB": "FluxBB", "StackExchange": "Stack Exchange"}

// Application is the application of the label, by its name in the knowledge base.
func (l Labelled) Application() string {
	if name, ok := names[l.CMS]; ok {
		return name
	}
	return l.CMS
}

// agreeing are the levels that a label may stand for: labels are coarser than the knowledge base.
var agreeing = map[string][]string{
	"front":             {"front", "list of forums", "list"},
	"list":              {"list of threads", "list of forums", "category", "tag", "archive", "list", "search", "special", "members", "front", "history"},
	"post":              {"article", "page", "post", "question", "thread", "product", "media"},
	"page":              {"article", "page"},
	"thread":            {"thread", "question"},
	"profile":           {"profile", "members"},
	"profile/members":   {"profile", "members"},
	"login/register":    {"login"},
	"other:info":        {"info", "error"},
	"wiki":              {"article"},
	"category":          {"category"},
	"search":            {"search"},
	"other:xa_ams_view": {"article"},
}

// Known reports whether the label of the application is not in doubt.
func (l Labelled) Known() bool { return !strings.HasPrefix(l.Doubt, "not ") }

// Judged reports whether the label of the level is not in doubt, and can be compared with levels of the knowledge base.
func (l Labelled) Judged() bool { return l.Doubt == "" && len(agreeing[l.Level]) > 0 }

// Agrees reports whether a level of the knowledge base is one of those that the label stands for.
func (l Labelled) Agrees(level string) bool {
	for _, want := range agreeing[l.Level] {
		if level == want {
			return true
		}
	}
	return false
}
