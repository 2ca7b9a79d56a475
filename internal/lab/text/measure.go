package text

import (
	"fmt"
	"runtime"
	"time"

	"github.com/muninn-archive/muninn/internal/cputime"
)

// System extracts something from pages, and says what: values that it does not extract are not judged.
type System struct {
	Name                      string
	Body, Title, Author, Date bool
	// Extract is called once for each page. After an error the answer is empty.
	Extract func(p *Page) (Answer, error)
}

// Scored is the answer of one system for one page.
type Scored struct {
	System string        `json:"system"`
	Match  *Match        `json:"body,omitempty"` // nil: the system extracts no body
	Words  int           `json:"words"`          // of the body that it gave
	Title  Verdict       `json:"title"`
	Author Verdict       `json:"author"`
	Date   Verdict       `json:"date"`
	Answer Answer        `json:"answer"`
	Fault  string        `json:"fault,omitempty"` // why there is no answer
	CPU    time.Duration `json:"cpu_ns"`          // of the process, all of parsing and extraction
}

// Seen is a page with the answers of all systems, in their order.
type Seen struct {
	Page   *Page    `json:"-"`
	File   string   `json:"file"`
	Use    string   `json:"use"`
	Kind   string   `json:"kind"`
	Scores []Scored `json:"scores"`
}

// Measure has each system extract from all pages, one after the other.
func Measure(pages []*Page, systems []System) []Seen {
	out := make([]Seen, len(pages))
	for i, p := range pages {
		out[i] = Seen{Page: p, File: p.File, Use: p.Use, Kind: p.Kind}
	}
	for _, s := range systems { // each over all pages: what one leaves to the garbage collector is not the other's time
		if len(pages) > 0 {
			s.score(pages[0]) // what it does once, such as compiling expressions, is no time of a page
		}
		runtime.GC()
		for i, p := range pages {
			out[i].Scores = append(out[i].Scores, s.score(p))
		}
	}
	return out
}

func (s *System) score(p *Page) (r Scored) {
	r.System = s.Name
	begin := cputime.Used()
	a, err := s.extract(p)
	r.CPU = cputime.Used() - begin
	if err != nil {
		a, r.Fault = Answer{}, err.Error()
	}
	r.Answer = a
	if s.Body {
		words := Tokens(a.Body)
		m := Compare(p.Right, words)
		r.Match, r.Words = &m, len(words)
	}
	if s.Title {
		r.Title = judgeTitle(p.Title, a.Title)
	}
	if s.Author {
		r.Author = judgeAuthor(p.Author, a.Author)
	}
	if s.Date {
		r.Date = judgeDate(p.Date, a.Published)
	}
	return r
}

// extract turns a panic of a system into an error: libraries are given hostile pages, too.
func (s *System) extract(p *Page) (a Answer, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v", fault)
		}
	}()
	return s.Extract(p)
}
