//go:build ignore

// Pages compares the responses in an archive with the files that they were served from, and lists
// what was not answered with 200. It reads gzip members and WARC records by hand.
//
//	pages [-once] [-focused] ARCHIVE URL-PREFIX=FILE-PREFIX...
//
// It exits with 1 if a body differs or if nothing could be compared; with -once also if a URL has been
// captured more than once; with -focused also if the first pages are not nearer to the topic than the last
// ones.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

type root struct{ url, file string }

type tally struct {
	roots    []root
	captures map[string]int    // by URL
	kinds    map[string]int    // responses of 200 by media type
	others   map[string]string // status by URL
	via      map[string]string
	revisits map[string]int // by profile
	equal    int
	bytes    int64
	unknown  []string
	faults   []string
	scores   []scored
}

// scored is a page's score, and when it was fetched.
type scored struct {
	date  string
	score float64
}

func main() {
	once := flag.Bool("once", false, "a URL may be captured once only")
	focused := flag.Bool("focused", false, "relevant pages must come first")
	flag.Parse()
	t := &tally{captures: map[string]int{}, kinds: map[string]int{}, others: map[string]string{}, via: map[string]string{}, revisits: map[string]int{}}
	for _, arg := range flag.Args()[1:] {
		u, file, _ := strings.Cut(arg, "=")
		t.roots = append(t.roots, root{u, file})
	}
	err := filepath.WalkDir(flag.Arg(0), func(name string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".warc.gz") {
			return err
		}
		return t.file(name)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
	if *once {
		for u, n := range t.captures {
			if n > 1 {
				t.faults = append(t.faults, fmt.Sprintf("%d captures of %s", n, u))
			}
		}
	}
	thirds := t.thirds()
	if *focused && (len(t.scores) == 0 || thirds[0] < 1.5*thirds[2]) {
		t.faults = append(t.faults, fmt.Sprintf("mean scores of the first, second and last third: %.3f, not 1.5 times the last", thirds))
	}
	t.print()
	if len(t.scores) > 0 {
		fmt.Printf("%d scored; mean scores of the first, second and last third: %.3f\n", len(t.scores), thirds)
	}
	if len(t.faults) > 0 || t.equal == 0 {
		os.Exit(1)
	}
}

// thirds are the mean scores of the first, the second and the last third of the pages.
func (t *tally) thirds() (means [3]float64) {
	slices.SortStableFunc(t.scores, func(a, b scored) int { return strings.Compare(a.date, b.date) })
	n := len(t.scores) / 3
	for i := range means {
		for _, s := range t.scores[i*n : (i+1)*n] {
			means[i] += s.score / float64(n)
		}
	}
	return means
}

func (t *tally) print() {
	fmt.Printf("%d bodies equal the files (%.1f MB), %d URLs captured\n", t.equal, float64(t.bytes)/1e6, len(t.captures))
	for _, kind := range slices.Sorted(maps.Keys(t.kinds)) {
		fmt.Printf("  %5d %s\n", t.kinds[kind], kind)
	}
	for _, profile := range slices.Sorted(maps.Keys(t.revisits)) {
		fmt.Printf("  %5d revisits: %s\n", t.revisits[profile], profile)
	}
	list := func(what string, lines []string) {
		fmt.Printf("%d %s\n", len(lines), what)
		for _, line := range lines[:min(len(lines), 15)] {
			fmt.Println("  " + line)
		}
	}
	list("bodies without a file (listings, redirects within the server)", t.unknown)
	others := make([]string, 0, len(t.others))
	for _, u := range slices.Sorted(maps.Keys(t.others)) {
		others = append(others, t.others[u]+" "+u+" "+t.via[u])
	}
	list("responses other than 200 and 304", others)
	list("faults", t.faults)
}

func (t *tally) file(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	z, err := gzip.NewReader(in)
	for ; err == nil; err = z.Reset(in) {
		z.Multistream(false)
		record := bufio.NewReader(z)
		if _, err := record.ReadString('\n'); err != nil { // WARC/1.1
			return fmt.Errorf("%s: %w", name, err)
		}
		head, err := textproto.NewReader(record).ReadMIMEHeader()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		size, _ := strconv.ParseInt(head.Get("Content-Length"), 10, 64)
		block, err := io.ReadAll(io.LimitReader(record, size))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, err := io.Copy(io.Discard, record); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t.record(head, block)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (t *tally) record(head textproto.MIMEHeader, block []byte) {
	target := strings.Trim(head.Get("WARC-Target-URI"), "<>")
	page := strings.HasPrefix(target, "http") && !strings.HasSuffix(target, "/robots.txt")
	switch head.Get("WARC-Type") {
	case "metadata":
		for line := range strings.Lines(string(block)) {
			if strings.HasPrefix(line, "via:") {
				t.via[target] = strings.TrimSpace(line)
			}
			if text, ok := strings.CutPrefix(line, "muninn-score:"); ok {
				if score, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
					t.scores = append(t.scores, scored{head.Get("Warc-Date"), score})
				}
			}
		}
	case "revisit":
		if page {
			t.captures[target]++
			t.revisits[filepath.Base(head.Get("WARC-Profile"))]++
		}
	case "response":
		if page {
			t.captures[target]++
			t.response(target, block)
		}
	}
}

func (t *tally) response(target string, block []byte) {
	r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(block)), nil)
	if err != nil {
		t.faults = append(t.faults, target+": "+err.Error())
		return
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.others[target] = r.Status
		return
	}
	coding := ""
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		coding = " (gzip)"
		if body, err = gzip.NewReader(body); err != nil {
			t.faults = append(t.faults, target+": "+err.Error())
			return
		}
	}
	t.kinds[r.Header.Get("Content-Type")+coding]++
	got, err := io.ReadAll(body)
	if err != nil {
		t.faults = append(t.faults, target+": "+err.Error())
		return
	}
	want, known := t.onDisk(target)
	switch {
	case !known:
		t.unknown = append(t.unknown, target)
	case !bytes.Equal(got, want):
		t.faults = append(t.faults, fmt.Sprintf("%s: %d bytes differ from the file's %d", target, len(got), len(want)))
	default:
		t.equal++
		t.bytes += int64(len(got))
	}
}

func (t *tally) onDisk(target string) ([]byte, bool) {
	target, _, _ = strings.Cut(target, "?")
	for _, r := range t.roots {
		rest, ok := strings.CutPrefix(target, r.url)
		if !ok {
			continue
		}
		rest, err := url.PathUnescape(rest)
		if err != nil {
			return nil, false
		}
		if rest == "" || strings.HasSuffix(rest, "/") {
			rest += "index.html"
		}
		data, err := os.ReadFile(r.file + rest)
		return data, err == nil
	}
	return nil, false
}
