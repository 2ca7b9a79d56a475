package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// Chosen says of single captures what becomes of them: what a query or a selection amounts to. It takes the place of Rules. A capture that it does not
// speak of is dropped. It takes about 100 bytes of memory a capture, beside the URL.
type Chosen struct {
	name      string
	decisions []Decision // each once
	numbers   map[Decision]int32
	of        map[chosenCapture]int32 // of decisions
	kept      int
}

// chosenCapture names a capture. The index has no fractions of seconds.
type chosenCapture struct {
	crawl, url string
	unix       int64
}

// NewChosen makes decisions without any. name says what they amount to, such as "selection ravens, version 7".
func NewChosen(name string) *Chosen {
	return &Chosen{name: name, numbers: map[Decision]int32{}, of: map[chosenCapture]int32{}}
}

// Add adds the decision on a capture of a crawl. Of two captures of a URL in one second both are kept if one is.
func (c *Chosen) Add(crawl, url string, date time.Time, d Decision) {
	at := chosenCapture{crawl, url, date.Unix()}
	if before, known := c.of[at]; known {
		if c.decisions[before].Keep || !d.Keep {
			return
		}
	}
	n, known := c.numbers[d]
	if !known {
		n = int32(len(c.decisions))
		c.numbers[d] = n
		c.decisions = append(c.decisions, d)
	}
	c.of[at] = n
	if d.Keep {
		c.kept++
	}
}

// Name says what the decisions amount to.
func (c *Chosen) Name() string { return c.name }

// Kept is the number of captures that are kept.
func (c *Chosen) Kept() int { return c.kept }

// Decided is the number of captures that there is a decision on.
func (c *Chosen) Decided() int { return len(c.of) }

// decide is the decision on a capture.
func (c *Chosen) decide(crawl string, capture *archive.Indexed) Decision {
	if n, known := c.of[chosenCapture{crawl, capture.URL, capture.Date.Unix()}]; known {
		return c.decisions[n]
	}
	return Decision{By: c.name, Why: "it is no page that can be read: it is exported if a kept page needs it"}
}

// hash names the decisions: others have another one.
func (c *Chosen) hash() string {
	list := make([]chosenCapture, 0, len(c.of))
	for at := range c.of {
		list = append(list, at)
	}
	slices.SortFunc(list, func(a, b chosenCapture) int {
		return cmp.Or(cmp.Compare(a.crawl, b.crawl), cmp.Compare(a.url, b.url), cmp.Compare(a.unix, b.unix))
	})
	var text strings.Builder
	fmt.Fprintf(&text, "%q\n", c.name)
	for _, at := range list {
		d := c.decisions[c.of[at]]
		fmt.Fprintf(&text, "%q %q %d %t %q %q\n", at.crawl, at.url, at.unix, d.Keep, d.By, d.Why)
	}
	return hashOf([]byte(text.String()))
}

// decider makes the function that decides on captures of an index, by what the order keeps.
func (x *Index) decider(o *Order) func(*Capture) Decision {
	if o.Chosen != nil {
		return func(c *Capture) Decision { return o.Chosen.decide(x.Sources[c.Source].Crawl.Name, &c.Indexed) }
	}
	judge := o.Keep.judge()
	return func(c *Capture) Decision { return judge(c.URL) }
}
