package room

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// Bounds of what is remembered of the logs of a crawl.
const (
	// tallyTime is how long a request reads further segments; the next one continues.
	tallyTime = 10 * time.Second
	// maxReasons is the number of reasons of a kind that are counted apart.
	maxReasons = 50
	// maxExamples is the number of URLs of a reason that are listed.
	maxExamples = 5
	// maxReason is the length of a reason, in bytes.
	maxReason = 160
)

// tally is what segments and crawl logs of a crawl say, as far as they were read.
type tally struct {
	mu   sync.Mutex
	seen map[uint64]bool // segments, by a hash of their names
	runs map[uint32]*runTally
}

// runTally is that of a run; its number is 0 where segments do not name it.
type runTally struct {
	Run       uint32    `json:"run"`
	Segments  int       `json:"segments"`
	Workers   []string  `json:"workers"`
	First     time.Time `json:"first"`
	Last      time.Time `json:"last"`
	Pages     int       `json:"pages"`
	Responses int       `json:"responses"`
	Revisits  int       `json:"revisits"`
	Objects   int       `json:"web_objects"`
	Outlinks  int       `json:"outlinks"`
	Bytes     int64     `json:"payload_bytes"`
	Tried     int       `json:"attempts"` // lines of the crawl log
	Ends      []reason  `json:"ends"`     // why there is no page, the commonest first

	ends map[[2]string]*reason
}

// reason is why URLs ended without a page, or were tried again.
type reason struct {
	Kind     string   `json:"kind"`
	Reason   string   `json:"reason"`
	N        int      `json:"n"`
	Examples []string `json:"examples"`
}

// tallies are those of all crawls.
type tallies struct {
	mu sync.Mutex
	of map[string]*tally
}

func (t *tallies) named(name string) *tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]*tally{}
	}
	if t.of[name] == nil {
		t.of[name] = &tally{seen: map[uint64]bool{}, runs: map[uint32]*runTally{}}
	}
	return t.of[name]
}

func hashed(segment string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(segment))
	return h.Sum64()
}

// read counts segments that are not counted yet, for a while. whole says that none is left.
func (t *tally) read(ctx context.Context, of Crawl) (runs []runTally, whole bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, tallyTime)
	defer cancel()
	walk := archive.Walk[[]archive.Logged]{
		Of:   of.Layout(),
		Skip: func(segment string, _ time.Time) bool { return t.seen[hashed(segment)] },
		Load: func(ctx context.Context, m archive.Manifest) (lines []archive.Logged, err error) {
			err = archive.ReadLog(ctx, of.Store, &m, func(line archive.Logged) error {
				lines = append(lines, line)
				return nil
			})
			return lines, err
		},
		Damaged: func(error) error { return nil },
	}
	err = walk.Each(limited, of.Store, func(m archive.Manifest, lines []archive.Logged) error {
		t.seen[hashed(m.Segment())] = true
		t.run(m.Run).add(&m, lines)
		return limited.Err()
	})
	whole = err == nil
	if limited.Err() != nil && ctx.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || err == limited.Err()) {
		err = nil
	}
	for _, r := range t.runs {
		runs = append(runs, r.copy())
	}
	slices.SortFunc(runs, func(a, b runTally) int { return cmp.Compare(a.Run, b.Run) })
	return runs, whole, err
}

func (t *tally) run(n uint32) *runTally {
	if t.runs[n] == nil {
		t.runs[n] = &runTally{Run: n, ends: map[[2]string]*reason{}}
	}
	return t.runs[n]
}

func (r *runTally) add(m *archive.Manifest, lines []archive.Logged) {
	r.Segments++
	if at, known := slices.BinarySearch(r.Workers, m.Worker); !known && m.Worker != "" && len(r.Workers) < maxReasons {
		r.Workers = slices.Insert(r.Workers, at, m.Worker)
	}
	if r.First.IsZero() || m.Created.Before(r.First) {
		r.First = m.Created
	}
	if m.Created.After(r.Last) {
		r.Last = m.Created
	}
	r.Pages, r.Responses, r.Revisits = r.Pages+m.Pages, r.Responses+m.Responses, r.Revisits+m.Revisits
	r.Objects, r.Outlinks, r.Bytes = r.Objects+m.Counts.Objects, r.Outlinks+m.Counts.Links, r.Bytes+m.Payload
	for i := range lines {
		r.Tried++
		if lines[i].WithoutPage() {
			r.end(&lines[i])
		}
	}
}

// end counts a line without a page.
func (r *runTally) end(l *archive.Logged) {
	text := oneLine(l.Reason, maxReason)
	if text == "" && l.Status != 0 {
		text = "HTTP " + statusText(l.Status)
	}
	key := [2]string{string(l.Kind), text}
	if r.ends[key] == nil && r.reasons(key[0]) >= maxReasons {
		key[1] = "other reasons"
	}
	if r.ends[key] == nil {
		r.ends[key] = &reason{Kind: key[0], Reason: key[1]}
	}
	of := r.ends[key]
	if of.N++; len(of.Examples) < maxExamples && !slices.Contains(of.Examples, l.URL) {
		of.Examples = append(of.Examples, l.URL)
	}
}

func (r *runTally) reasons(kind string) (n int) {
	for key := range r.ends {
		if key[0] == kind {
			n++
		}
	}
	return n
}

func (r *runTally) copy() runTally {
	out := *r
	out.ends, out.Ends, out.Workers = nil, []reason{}, slices.Clone(r.Workers)
	for _, e := range r.ends {
		e := *e
		e.Examples = slices.Clone(e.Examples)
		out.Ends = append(out.Ends, e)
	}
	slices.SortFunc(out.Ends, func(a, b reason) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), cmp.Compare(b.N, a.N), strings.Compare(a.Reason, b.Reason))
	})
	return out
}
