package ring

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/scripttest"
)

var start = time.Date(2026, 10, 5, 12, 0, 0, 0, time.UTC)

// TestScripts runs the scripts in testdata. Times are counted from the start of the script; t= moves the clock.
//
//	register NAME instance= process= shards= waited= epoch=   lost NAME process=   leave NAME   tick   wake   state
//	exported NAME [of=] [order=]   loaded NAME [of=] [order=] [fault=]   may NAME PARTITION   check ACT NAME PARTITION epoch=
//	forgotten
//
// A worker's instance and process are those of its last registration unless the command says otherwise; at first its name's. Reports are of
// all partitions that the worker has to export or to load, or of= so many of them.
// The state may be written out and read again before any command and must continue as it would have.
func TestScripts(t *testing.T) {
	scripttest.Carried(t, func(t *testing.T) (func(words []string) []string, func()) {
		i := &interpreter{t: t, ring: New(DefaultLimits()), instances: map[string]string{}, processes: map[string]string{}}
		return i.command, func() { i.ring = carried(t, i.ring) }
	})
}

type interpreter struct {
	t                    *testing.T
	ring                 *State
	now                  time.Duration
	instances, processes map[string]string // of each name
}

func (i *interpreter) command(words []string) []string {
	plain, args := scripttest.Args(words, map[string]string{"shards": "1", "epoch": "0", "waited": "0s"})
	if t, ok := args["t"]; ok {
		i.now = i.duration(t)
	}
	now := start.Add(i.now)
	name, process := "", ""
	if len(plain) > 0 && words[0] != "check" {
		name = plain[0]
		for key, of := range map[string]map[string]string{"instance": i.instances, "process": i.processes} {
			if args[key] != "" {
				of[name] = args[key]
			} else if of[name] == "" {
				of[name] = strings.ToUpper(name)
			}
		}
		process = i.processes[name]
	}
	before := i.ring.table
	var lines []string
	switch words[0] {
	case "register":
		lines = answer(i.ring.Register(now, Registration{
			Name: name, Instance: i.instances[name], Process: process, Queue: "muninn-" + name, Shards: i.number(args["shards"]),
			Epoch: uint64(i.number(args["epoch"])), Waited: i.duration(args["waited"]),
		}))
	case "lost":
		i.ring.Lost(now, name, process)
	case "leave":
		i.ring.Leave(now, name, process)
	case "tick":
		i.ring.Tick(now)
	case "wake":
		wake, ok := i.ring.Wake(now)
		if !ok {
			return []string{"no wake"}
		}
		return []string{"in " + wake.String()}
	case "forgotten":
		i.ring.Forgotten(now)
	case "exported":
		lines = i.reports(now, name, process, Export, args, i.ring.Exported)
	case "loaded":
		lines = i.reports(now, name, process, Load, args, i.ring.Loaded)
	case "state":
		return i.state()
	case "may":
		line := "nothing"
		if may := i.may(name, i.number(plain[1])); len(may) > 0 {
			line = strings.Join(may, ", ")
		}
		return []string{line}
	case "check":
		for act, text := range actNames {
			if text == plain[0] {
				if err := i.ring.View("").Check(Act(act), plain[1], i.number(plain[2]), uint64(i.number(args["epoch"]))); err != nil {
					return []string{err.Error()}
				}
				return []string{"it is current"}
			}
		}
		i.t.Fatalf("no act %q", plain[0])
	default:
		i.t.Fatalf("no command %q", words)
	}
	if moved := moves(before, i.ring.table); moved > 0 {
		lines = append(lines, fmt.Sprintf("%d partitions are to move", moved))
	}
	return lines
}

func answer(a Answer) []string {
	switch {
	case a.Wait > 0:
		return []string{"waits " + a.Wait.String() + ": " + a.Reason}
	case a.Refused:
		return []string{"refused: " + a.Reason}
	case a.Late:
		return []string{fmt.Sprintf("accepted in epoch %d: %s", a.Epoch, a.Reason)}
	}
	return []string{fmt.Sprintf("accepted in epoch %d", a.Epoch)}
}

// moves counts the partitions that have another worker, and had one.
func moves(before, after Table) (n int) {
	for p := range before {
		if before[p] != 0 && before[p] != after[p] {
			n++
		}
	}
	return n
}

func (i *interpreter) reports(now time.Time, name, process string, act Act, args map[string]string, send func(time.Time, string, string, []Report) []Report) []string {
	m := NewMembership(name, process)
	m.Take(now, i.ring.View(name))
	var reports []Report
	of := Partitions
	if text, ok := args["of"]; ok {
		of = i.number(text)
	}
	for _, task := range m.Tasks() {
		if task.Act != act || len(reports) == of {
			continue
		}
		r := Report{Partition: task.Partition, Order: task.Order, Fault: args["fault"]}
		if text := args["order"]; text != "" {
			r.Order = uint64(i.number(text))
		}
		if act == Export {
			r.Object = fmt.Sprintf("ring/%d-%d", task.Partition, task.Order)
		}
		reports = append(reports, r)
	}
	if len(reports) == 0 { // that is asked of it no more
		reports = []Report{{Partition: 0, Order: i.ring.parts[0].order, Object: "ring/0"}}
	}
	if stale := send(now, name, process, reports); len(stale) > 0 {
		return []string{fmt.Sprintf("%d of %d reports are stale", len(stale), len(reports))}
	}
	return []string{fmt.Sprintf("%d partitions", len(reports))}
}

func (i *interpreter) may(name string, p int) (may []string) {
	v := i.ring.View("")
	for act, text := range actNames {
		if v.May(Act(act), name, p) {
			may = append(may, text)
		}
	}
	return may
}

func (i *interpreter) state() []string {
	v := i.ring.View("")
	lines := []string{fmt.Sprintf("epoch %d", v.Epoch)}
	for _, w := range v.Workers {
		line := w.Name + " is up"
		if w.Lost {
			line = w.Name + " is lost"
		}
		if w.Leaving {
			line += ", leaving"
		}
		lines = append(lines, line)
	}
	for _, g := range v.Groups() {
		line := fmt.Sprintf("%d %s", g.Partitions, g.Step)
		if g.Owner != "" {
			line += " of " + g.Owner
		}
		if g.Loader != "" {
			line += " by " + g.Loader
		}
		lines = append(lines, line)
	}
	return lines
}

func (i *interpreter) duration(text string) time.Duration { return scripttest.Duration(i.t, text) }

func (i *interpreter) number(text string) int { return scripttest.Number(i.t, text) }
