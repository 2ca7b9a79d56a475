package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/scripttest"
)

var start = time.Date(2026, 10, 5, 12, 0, 0, 0, time.UTC)

// TestScripts runs the scripts in testdata. Times are counted from the start of the script; t= moves the clock before the command.
//
//	add QUEUE PRIORITY…      new entries; each is one younger than the one before. Prints the queue.
//	load QUEUE PRIORITY…     entries that were there before, [claimed]
//	pop                      takes the queue to claim from and starts to read it
//	read QUEUE floor=POSITION [after=POSITION]  ends that; with after= there is a claim of what stands before it
//	free QUEUE [took=N] [back]                  the claim has ended; N entries have left the queue
//	set QUEUE next= rest= host= (times) pace= (a duration) fails= done= costly spent busy
//	next                     when a queue becomes ready
//	show                     all queues, where they stand, and the counts
//	idle MOST                evicts idle queues above a number
//
// A position is PRIORITY:AGE or last.
func TestScripts(t *testing.T) {
	scripttest.Files(t, func(t *testing.T, script string) string {
		i := &interpreter{t: t, schedule: NewSchedule(), queues: map[string]*Queue{}, now: start}
		return scripttest.Run(script, i.command)
	})
}

type interpreter struct {
	t        *testing.T
	schedule *Schedule
	queues   map[string]*Queue
	now      time.Time
	age      uint64
}

// command runs one command and returns what it prints.
func (i *interpreter) command(words []string) []string {
	i.t.Helper()
	plain, settings := scripttest.Args(words, nil)
	if at, moves := settings["t"]; moves {
		i.now = i.time(at)
	}
	switch words[0] {
	case "pop":
		q := i.schedule.Pop(i.now)
		if q == nil {
			return []string{"none"}
		}
		q.StartRead()
		return i.print(q)
	case "next":
		at, any := i.schedule.NextTime()
		switch {
		case !any:
			return []string{"never"}
		case at.IsZero():
			return []string{"now"}
		}
		return []string{at.Sub(start).String()}
	case "idle":
		var out []string
		for q := i.schedule.PopIdle(i.number(plain[0]), i.now); q != nil; q = i.schedule.PopIdle(i.number(plain[0]), i.now) {
			delete(i.queues, q.Name)
			out = append(out, q.Name+" goes")
		}
		return out
	case "show":
		return i.show()
	}
	q, known := i.queues[plain[0]]
	if !known {
		q = New(uint64(len(i.queues)))
		q.Name, i.queues[plain[0]] = plain[0], q
	}
	i.change(words[0], q, plain[1:], settings)
	i.schedule.Place(q, i.now)
	return i.print(q)
}

func (i *interpreter) change(command string, q *Queue, plain []string, settings map[string]string) {
	i.t.Helper()
	switch command {
	case "add", "load":
		for _, p := range plain {
			if p == "claimed" {
				continue
			}
			i.age++
			at := Position{uint16(i.number(p)), i.age}
			if command == "add" {
				q.Add(at)
			} else {
				q.Load(at, slices.Contains(plain, "claimed"))
			}
		}
	case "read":
		after, claim := settings["after"]
		found := Read{Floor: i.position(settings["floor"]), Claim: claim}
		if claim {
			found.After = i.position(after)
		}
		q.EndRead(found)
		q.Busy = claim
	case "free":
		q.Waiting -= i.number("0" + settings["took"])
		q.Free(slices.Contains(plain, "back"))
	case "set":
		i.set(q, plain, settings)
	default:
		i.t.Fatalf("unknown command %s", command)
	}
}

func (i *interpreter) set(q *Queue, plain []string, settings map[string]string) {
	for name, value := range settings {
		switch name {
		case "next":
			q.Next = i.time(value)
		case "rest":
			q.Rest = i.time(value)
		case "host":
			q.Host = i.time(value)
		case "pace":
			q.Pace = i.time(value).Sub(start)
		case "fails":
			q.Fails = i.number(value)
		case "done":
			q.Done.Pages = int64(i.number(value))
		}
	}
	for _, flag := range plain {
		switch flag {
		case "costly":
			q.Costly = true
		case "spent":
			q.Spent = true
		case "busy":
			q.Busy = true
		}
	}
}

func (i *interpreter) number(text string) int { return scripttest.Number(i.t, text) }

func (i *interpreter) time(text string) time.Time {
	i.t.Helper()
	return start.Add(scripttest.Duration(i.t, text))
}

func (i *interpreter) position(text string) Position {
	i.t.Helper()
	priority, age, found := strings.Cut(text, ":")
	if !found {
		return Last
	}
	return Position{uint16(i.number(priority)), uint64(i.number(age))}
}

func (p Position) String() string {
	if p == Last {
		return "last"
	}
	return fmt.Sprintf("%d:%d", p.Priority, p.Counter)
}

func (i *interpreter) print(q *Queue) []string {
	where := "nowhere"
	switch {
	case q.index < 0:
	case q.heap == &i.schedule.ready:
		where = "ready"
	case q.heap == &i.schedule.later:
		where = "later, " + q.Due().Sub(start).String()
	default:
		where = "idle"
	}
	out := fmt.Sprintf("%s %s: %d waiting, floor %v, best %v", q.Name, where, q.Waiting, q.Floor, q.Best)
	if q.Busy {
		out += fmt.Sprintf(", busy, since %v", q.Since)
	}
	return []string{out}
}

func (i *interpreter) show() (out []string) {
	names := make([]string, 0, len(i.queues))
	for name := range i.queues {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out = append(out, i.print(i.queues[name])...)
	}
	n, slow := i.schedule.Slow(i.now, 2)
	counts := fmt.Sprintf("%d with entries, %d spent, %d slow:", i.schedule.Queues(), i.schedule.SpentEntries(), n)
	for _, q := range slow {
		counts += " " + q.Name
	}
	if q := i.schedule.Longest(); q != nil {
		counts += "; longest " + q.Name
	}
	return append(out, counts)
}
