package share

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// crawler is a worker of a crawl.
type crawler struct {
	name                string
	waiting, inProgress int
	work                uint64
	epoch               uint64 // of its view
	done                map[int]bool
}

// delivery is on its way; its sender's batch is in progress until it has arrived.
type delivery struct{ id, from, to int }

// crawling is a crawl over several workers, and the messages that are on their way.
type crawling struct {
	t       *rapid.T
	ending  *Ending
	epoch   uint64
	workers []*crawler
	links   []delivery
	answers []IdleReport
	serial  int
	submits int // URLs that are accepted, and that no worker has yet
}

func (c *crawling) names() (list []string) {
	for _, w := range c.workers {
		list = append(list, w.name)
	}
	return list
}

func (w *crawler) gets() {
	w.waiting++
	w.work++
}

// claim takes a URL into a batch.
func (w *crawler) claim() {
	if w.waiting > 0 {
		w.waiting, w.inProgress = w.waiting-1, w.inProgress+1
		w.work++
	}
}

// finish ends a batch, or sends what it has found to another worker first.
func (c *crawling) finish(from, to int, finds bool) {
	w, undelivered := c.workers[from], 0
	for _, d := range c.links {
		if d.from == from {
			undelivered++
		}
	}
	switch {
	case w.inProgress == undelivered: // what is in progress waits for its deliveries
	case finds && from != to:
		c.serial++
		c.links = append(c.links, delivery{c.serial, from, to})
	case finds:
		w.gets()
		w.inProgress--
	default:
		w.inProgress--
	}
}

// deliver brings a delivery to its owner, and then ends the batch that has waited for it; some come twice.
func (c *crawling) deliver(which int, again bool) {
	if len(c.links) == 0 {
		return
	}
	i := which % len(c.links)
	d := c.links[i]
	if to := c.workers[d.to]; !to.done[d.id] {
		to.done[d.id] = true
		to.gets()
	}
	if !again { // the acknowledgement has arrived
		c.links = slices.Delete(c.links, i, i+1)
		c.workers[d.from].inProgress--
	}
}

// handOver moves what waits at a worker to another one, in two epochs.
func (c *crawling) handOver(from, to int) {
	c.epoch++
	c.ending.View(c.epoch, c.names(), false)
	for a, b := c.workers[from], c.workers[to]; a != b && a.waiting > 0; a.waiting-- {
		b.gets()
	}
	c.epoch++
	c.ending.View(c.epoch, c.names(), true)
}

// answer has a worker answer the round that it was asked.
func (c *crawling) answer(w *crawler) {
	w.epoch = c.epoch
	c.answers = append(c.answers, IdleReport{w.name, w.epoch, c.ending.Round, w.waiting == 0 && w.inProgress == 0, w.work})
}

// idle reports whether nothing is left to do anywhere.
func (c *crawling) idle() bool {
	return len(c.links) == 0 && c.submits == 0 && !slices.ContainsFunc(c.workers, func(w *crawler) bool { return w.waiting+w.inProgress > 0 })
}

// check: a crawl that submits URLs itself knows that they are on their way, and does not look for its end meanwhile.
func (c *crawling) check() {
	if c.ending.Found && c.submits == 0 && !c.idle() {
		c.t.Fatalf("the crawl has ended, and %+v, %+v, %+v are left; %d submitted", *c.workers[0], *c.workers[1], c.links, c.submits)
	}
	text, err := json.Marshal(c.ending)
	next := &Ending{}
	if err == nil {
		err = json.Unmarshal(text, next)
	}
	if err != nil || !reflect.DeepEqual(next, c.ending) {
		c.t.Fatalf("%s is read as %+v, %v", text, next, err)
	}
	c.ending = next
}

// TestEnding plays random histories of batches, deliveries that come late and twice, submitted URLs, hand-overs, and answers that come late,
// twice and out of order. A crawl never ends while anything is left, and it ends two rounds after the last work.
func TestEnding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &crawling{t: t, ending: &Ending{}, epoch: 1}
		for i := range rapid.IntRange(2, 4).Draw(t, "workers") {
			c.workers = append(c.workers, &crawler{name: fmt.Sprint("w", i), done: map[int]bool{}})
		}
		c.workers[0].gets()
		c.ending.View(c.epoch, c.names(), true)
		for range rapid.IntRange(30, 300).Draw(t, "steps") {
			i, j := rapid.IntRange(0, len(c.workers)-1).Draw(t, "worker"), rapid.IntRange(0, len(c.workers)-1).Draw(t, "other")
			which := rapid.IntRange(0, 20).Draw(t, "which")
			switch act := rapid.IntRange(0, 12).Draw(t, "act"); act {
			case 0, 1:
				c.workers[i].claim()
			case 2, 3:
				c.finish(i, j, act == 2 && which < 12)
			case 4, 5:
				c.deliver(which, act == 5)
			case 6, 7, 8:
				c.answer(c.workers[i])
			case 9, 10:
				if n := len(c.answers); n > 0 {
					c.ending.Answer(c.answers[n-1-which%n])
				}
			case 11:
				switch {
				case which < 2:
					c.handOver(i, j)
				case which < 4 && !c.ending.Found:
					c.ending.Disturb()
					c.submits++
				}
			case 12:
				if c.submits > 0 {
					c.submits--
					c.workers[i].gets()
					c.ending.Disturb()
				}
			}
			c.check()
		}
		for ; c.submits > 0; c.submits-- {
			c.workers[0].gets()
		}
		for !c.idle() {
			for i, w := range c.workers {
				w.claim()
				c.finish(i, i, false)
			}
			c.deliver(0, false)
		}
		if c.ending.Found {
			return
		}
		for range 3 { // the first of them may be of a round in which somebody has answered before
			for _, w := range c.workers {
				c.answer(w)
				c.ending.Answer(c.answers[len(c.answers)-1])
				c.check()
			}
		}
		if !c.ending.Found {
			t.Fatalf("nothing is left, and the end is not found: %+v", c.ending)
		}
	})
}
