package politeness

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "write what the scripts print into testdata")

var start = time.Date(2026, 10, 5, 12, 0, 0, 0, time.UTC)

// TestScripts runs the scripts in testdata. A line is a command; the indented lines below it are what
// it prints. Times are counted from the start of the script; t= moves the clock.
//
//	ask LEASE[@IP]… ip= per_ip= worker= reply=   release LEASE… ip= next=   renew LEASE… ip=
//	drop WORKER   tick   wake   state   ttl DURATION
//
// The state may be written out and read again before any command and must go on as it would have.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, commands := run(t, string(text), -1)
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(text) {
				t.Errorf("%s prints (-rewrite takes it over)\n%s", file, got)
			}
			for i := range commands {
				if again, _ := run(t, string(text), i); again != got {
					t.Errorf("written out before command %d it prints\n%s", i+1, again)
				}
			}
		})
	}
}

// run runs a script; before command number copied the state goes through JSON.
func run(t *testing.T, script string, copied int) (printed string, commands int) {
	t.Helper()
	i := &interpreter{t: t, state: New(0), ips: map[string]string{}}
	var out strings.Builder
	for line := range strings.Lines(script) {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		out.WriteString(line)
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if commands == copied {
			i.state = copyOf(t, i.state)
		}
		commands++
		for _, answer := range i.command(line) {
			out.WriteString("  " + answer + "\n")
		}
	}
	return out.String(), commands
}

func copyOf(t *testing.T, s *State) *State {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var again State
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	return &again
}

type interpreter struct {
	t     *testing.T
	state *State
	now   time.Duration
	ips   map[string]string // the address of each lease, so that a script need not repeat it
}

func (i *interpreter) command(line string) []string {
	words := strings.Fields(line)
	args := map[string]string{"per_ip": "1", "worker": "w", "reply": "r"}
	var names []string
	for _, word := range words[1:] {
		if key, value, ok := strings.Cut(word, "="); ok {
			args[key] = value
		} else {
			names = append(names, word)
		}
	}
	if t, ok := args["t"]; ok {
		i.now = i.duration(t)
	}
	now := start.Add(i.now)
	var asks []Ask
	var releases []Release
	var renewals []Renewal
	if words[0] == "ask" || words[0] == "release" || words[0] == "renew" {
		for _, name := range names {
			name, own, _ := strings.Cut(name, "@")
			if ip := cmp.Or(own, args["ip"]); ip != "" {
				i.ips[name] = ip
			}
			ip := i.ips[name]
			asks = append(asks, Ask{Lease: name, IP: ip, PerIP: i.number(args["per_ip"]), Worker: args["worker"], Reply: args["reply"]})
			renewals = append(renewals, Renewal{Lease: name, IP: ip})
			r := Release{Lease: name, IP: ip}
			if next, ok := args["next"]; ok {
				r.Next = start.Add(i.duration(next))
			}
			releases = append(releases, r)
		}
	}
	switch words[0] {
	case "ask":
		return i.grants(i.state.Ask(now, asks))
	case "release":
		return i.grants(i.state.Release(now, releases))
	case "renew":
		i.state.Renew(now, renewals)
	case "drop":
		return i.grants(i.state.Drop(now, names[0]))
	case "tick":
		return i.grants(i.state.Tick(now))
	case "wake":
		if at, ok := i.state.Wake(); ok {
			return []string{"wake at " + at.Sub(start).String()}
		}
		return []string{"no wake"}
	case "state":
		return i.describe()
	case "ttl":
		i.state = New(i.duration(names[0]))
	default:
		i.t.Fatalf("no command %q", line)
	}
	return nil
}

func (i *interpreter) grants(grants []Grant) []string {
	var lines []string
	for _, g := range grants {
		from := "at once"
		if !g.NotBefore.IsZero() {
			from = "not before " + g.NotBefore.Sub(start).String()
		}
		lines = append(lines, fmt.Sprintf("%s gets %s on %s %s, until %s", g.Reply, g.Lease, g.IP, from, g.Deadline.Sub(start)))
	}
	return lines
}

func (i *interpreter) describe() []string {
	held, waiting := i.state.Counts()
	lines := []string{fmt.Sprintf("%d held, %d waiting", held, waiting)}
	for _, ip := range slices.Sorted(maps.Keys(i.state.Addresses)) {
		a := i.state.Addresses[ip]
		line := ip + " held by"
		for _, h := range a.Holders {
			line += fmt.Sprintf(" %s(%s until %s)", h.Lease, h.Worker, h.Deadline.Sub(start))
		}
		line += ", awaited by"
		for _, w := range a.Waiters {
			line += " " + w.Lease
		}
		if !a.Next.IsZero() {
			line += ", next " + a.Next.Sub(start).String()
		}
		lines = append(lines, line)
	}
	return lines
}

func (i *interpreter) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		i.t.Fatal(err)
	}
	return d
}

func (i *interpreter) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		i.t.Fatal(err)
	}
	return n
}
