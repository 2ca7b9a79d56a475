package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// idleTime is how long the CPU time of an idle server and worker is measured.
const idleTime = 5 * time.Second

// idle is the CPU time that an idle process uses per second.
func idle(p *process) time.Duration {
	before := p.used()
	time.Sleep(idleTime)
	return (p.used() - before) / time.Duration(idleTime/time.Second)
}

// calls reads from a worker's metrics how many calls it made to the Temporal server, by operation, including long polls.
func calls(listen string) (map[string]int, error) {
	in, err := http.Get("http://" + listen + "/metrics")
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Body.Close() }()
	return readCalls(in.Body)
}

var callLine = regexp.MustCompile(`^temporal_(?:long_)?request_total\{.*operation="([^"]+)".*\} ([0-9.e+]+)$`)

func readCalls(in io.Reader) (map[string]int, error) {
	out := map[string]int{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if m := callLine.FindStringSubmatch(lines.Text()); m != nil {
			n, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				return nil, err
			}
			out[m[1]] += int(n)
		}
	}
	return out, lines.Err()
}

// printCalls prints the worker's calls to the Temporal server, the most frequent first, and the CPU time of the idle server.
func printCalls(m measured) {
	total := 0
	for _, n := range m.calls {
		total += n
	}
	operations := slices.SortedFunc(maps.Keys(m.calls), func(a, b string) int { return cmp.Or(cmp.Compare(m.calls[b], m.calls[a]), cmp.Compare(a, b)) })
	text := make([]string, len(operations))
	for i, operation := range operations {
		text[i] = fmt.Sprintf("%s %d", operation, m.calls[operation])
	}
	fmt.Printf("  %d calls of the worker: %s\n", total, strings.Join(text, ", "))
	used := m.cpu["temporal server"]
	fmt.Printf("  the server used %.2f CPU s before the crawl, %.3f CPU s a second idle; %.2f ms a call of the crawl; without its start it used %.3f of the worker's CPU time\n",
		m.start.Seconds(), m.idle.Seconds(), float64((used-m.start).Microseconds())/1000/float64(max(total, 1)), (used-m.start).Seconds()/m.cpu["worker"].Seconds())
}
