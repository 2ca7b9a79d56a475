package frontier

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/migrate"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// former is a frontier that the version before format 2 has written: what its store held, and what it said of its crawl.
type former struct {
	entries map[string]string
	urls    []string // a line of each URL of testCrawl: state, via and so on
	status  string
}

func readFormer(t testing.TB) (f former) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "format-1.txt"))
	if err != nil {
		t.Fatal(err)
	}
	f.entries = map[string]string{}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSuffix(line, "\n")
		if said, ok := strings.CutPrefix(line, "# "); ok {
			if f.status = strings.TrimPrefix(said, "status "); f.status == said {
				f.urls = append(f.urls, said)
			}
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		key, errKey := strconv.Unquote(quoted)
		value, errValue := strconv.Unquote(line[min(len(quoted)+1, len(line)):])
		if err := errors.Join(err, errKey, errValue); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		f.entries[key] = value
	}
	return f
}

// write makes a folder of it.
func (f former) write(t testing.TB, dir string) {
	t.Helper()
	s, err := store.Open(dir, store.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(func(tx store.Tx) (err error) {
		for key, value := range f.entries {
			err = errors.Join(err, tx.Set(store.Key(key), []byte(value)))
		}
		return err
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// formerRig opens the folder of a former version, at the time when it was left.
func formerRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), clock: &clock{now: time.Date(2026, 1, 2, 3, 5, 25, 600_000_000, time.UTC)}}
	readFormer(t).write(t, r.dir)
	r.open()
	t.Cleanup(func() { _ = r.Close() })
	r.round, r.batch = 100, 100
	return r
}

// contents lists all keys of a folder with their values.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	s, err := store.Open(dir, store.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	err = s.View(func(txn store.Reader) error {
		return txn.Scan(nil, nil, func(key store.Key, value []byte) (bool, error) {
			all[string(key)] = string(value)
			return true, nil
		})
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return all
}

func (r *rig) said() (list []string, status string) {
	r.t.Helper()
	known := r.states()
	for _, u := range slices.Sorted(maps.Keys(known)) {
		e, err := r.URLs().Explain(trusted(r.t, u))
		r.must(err)
		list = append(list, fmt.Sprintf("%s %s via=%s path=%s links=%d priority=%.4f", u, e.State, e.Via, e.Path, e.Links, e.Priority))
	}
	s := r.status()
	totals, _, _ := strings.Cut(fmt.Sprintf("%+v", s.Totals), " Requisites:") // that version did not count them
	return list, fmt.Sprintf("waiting=%d delayed=%d claimed=%d totals=%s}", s.Waiting, s.Delayed, s.Claimed, totals)
}

// TestFormerFolder: a folder of the former version is opened, and all is there: every URL with its state, place and origin, claims,
// releases, digests by archive, what was learned of hosts; and the crawl continues.
func TestFormerFolder(t *testing.T) {
	was := readFormer(t)
	r := formerRig(t)
	list, status := r.said()
	if !slices.Equal(list, was.urls) || status != was.status {
		for i := range list {
			if i >= len(was.urls) || list[i] != was.urls[i] {
				t.Errorf("%s", list[i])
			}
		}
		t.Fatalf("%d URLs, %d before; %s, before %s", len(list), len(was.urls), status, was.status)
	}
	// one entry has become one, whatever its kind
	before, after := map[byte]int{}, map[byte]int{}
	for key := range was.entries {
		before[key[0]]++
	}
	r.must(r.Close())
	for key := range contents(t, r.dir) {
		after[key[0]]++
	}
	for from, to := range map[byte]byte{'r': 'R', 'c': 'C', 'l': 'L', 'w': 'W', 'd': 'D', 'g': 'G', 'q': 'q', 'm': 'm', 'o': 'o', 'b': 'b', 's': 's', 'h': 'h', 't': 't', 'u': 'u', 'x': 'x', 'p': 'p'} {
		if before[from] != after[to] || before[from] == 0 {
			t.Errorf("%d entries of the kind %c have become %d of %c", before[from], from, after[to], to)
		}
	}
	if after['r']+after['c']+after['l']+after['w']+after['d']+after['g'] != 0 {
		t.Errorf("of former kinds there is left: %v", after)
	}
	r.open()
	for key, value := range was.entries {
		digest, ok := strings.CutPrefix(key, "d\x00\x01")
		if !ok {
			continue
		}
		archive := 0
		if rest, second := strings.CutPrefix(digest, "1 "); second {
			archive, digest = 1, rest
		}
		var original crawl.Visit
		r.must(codec.Unmarshal([]byte(value), &original))
		if got, found := r.URLs().Original(archive, original.URL, digest); !found || got != original {
			t.Errorf("%s in archive %d is %+v, before %+v", digest, archive, got, original)
		}
		if _, found := r.URLs().Original(archive, "http://elsewhere.example/", digest); found {
			t.Errorf("%s is an original of another PLD", digest)
		}
	}
	// the journal goes out, the claims of a batch are fetched and committed, what was put off comes back
	round := r.drainJournal()
	if len(round.Releases) != before['l'] {
		t.Errorf("%d releases of %d", len(round.Releases), before['l'])
	}
	r.confirm(round)
	var started []Claim
	for _, c := range r.crawls[testCrawl].claims.Where(func(*Claim) bool { return true }) {
		if c.Batch == "" {
			continue
		}
		lanes, err := r.Batch(c.Batch).Reopen([]Claim{*c}, nil)
		r.must(err)
		started = append(started, *c)
		r.finish(c.Batch, lanes)
	}
	if len(started) != 1 {
		t.Errorf("%d claims were at work, want 1", len(started))
	}
	for range 20 {
		r.clock.pass(time.Hour)
		r.must(r.Withdraw())
		r.confirm(r.drainJournal())
		if batch, lanes := r.take(); batch != "" {
			r.finish(batch, lanes)
		}
	}
	r.confirm(r.drainJournal())
	for url, state := range r.states() {
		if state != "done" && state != "failed" && state != "refused" && state != "blacklisted" {
			t.Errorf("%s is %s in the end", url, state)
		}
	}
	r.must(r.Close())
	for key := range contents(t, r.dir) {
		if strings.ContainsRune("CLWq", rune(key[0])) && key[2] == 1 {
			t.Errorf("%q is left in the end", key)
		}
	}
}

// cut is a context that ends after some transactions of a migration.
type cut struct {
	context.Context
	left int
	each func()
}

func (c *cut) Err() error {
	if c.each != nil {
		c.each()
	}
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func migrateSome(t testing.TB, dir string, c *cut) error {
	t.Helper()
	c.Context = t.Context()
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return errors.Join(migrate.Up(c, s, migrate.Options{Part: 10}), s.Close())
}

// TestMigrationContinues: cut off after any transaction, a migration continues where it was, and ends as one that was not.
func TestMigrationContinues(t *testing.T) {
	was, whole := readFormer(t), t.TempDir()
	was.write(t, whole)
	all := &cut{left: 1000}
	if err := migrateSome(t, whole, all); err != nil {
		t.Fatal(err)
	}
	want := contents(t, whole)
	for n := 0; n < 1000-all.left; n += 5 {
		dir := t.TempDir()
		was.write(t, dir)
		if err := migrateSome(t, dir, &cut{left: n}); !errors.Is(err, context.Canceled) {
			t.Fatalf("cut off after %d transactions: %v", n, err)
		}
		if err := migrateSome(t, dir, &cut{left: 1000}); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, dir); !maps.Equal(got, want) {
			t.Fatalf("cut off after %d transactions it has %d entries, want %d", n, len(got), len(want))
		}
	}
}

const migrateDir = "MUNINN_TEST_MIGRATE_DIR"

// TestMigrateChild is the process that TestMigrationKilled kills: it says when a transaction begins.
func TestMigrateChild(t *testing.T) {
	dir := os.Getenv(migrateDir)
	if dir == "" {
		t.Skip("is run by TestMigrationKilled")
	}
	n := 0
	err := migrateSome(t, dir, &cut{left: 1000, each: func() {
		fmt.Println("transaction", n)
		if n++; n == 20 {
			select {} // until it is killed
		}
	}})
	t.Error(err)
}

// TestMigrationKilled: the process may be killed as well.
func TestMigrationKilled(t *testing.T) {
	was, whole, dir := readFormer(t), t.TempDir(), t.TempDir()
	was.write(t, whole)
	was.write(t, dir)
	if err := migrateSome(t, whole, &cut{left: 1000}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMigrateChild$", "-test.count=1")
		child.Env = append(os.Environ(), migrateDir+"="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		for scan := bufio.NewScanner(out); scan.Scan(); {
			if scan.Text() == "transaction 9" {
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := child.Wait(); err == nil {
			t.Fatal("the child ended by itself")
		}
	}
	if err := migrateSome(t, dir, &cut{left: 1000}); err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, dir), contents(t, whole); !maps.Equal(got, want) {
		t.Errorf("killed twice it has %d entries, want %d", len(got), len(want))
	}
}

// TestFormats: a folder of a format that this version cannot read is refused, and stays as it is.
func TestFormats(t *testing.T) {
	for format, says := range map[int]string{migrate.Present + 1: "start the version that wrote it, or a later one", 0: "start an earlier version, which migrates it; or move the folder away"} {
		dir := t.TempDir()
		s, err := store.Open(dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Update(func(tx store.Tx) error {
			return errors.Join(tx.Save(store.Format(), format), tx.Set(store.Key("r\x00\x01 of another form"), nil))
		})
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		before := contents(t, dir)
		_, err = Open(dir, Options{})
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), dir) {
			t.Errorf("format %d: %v", format, err)
		}
		if after := contents(t, dir); !maps.Equal(before, after) {
			t.Errorf("a folder that was refused has changed: %q", after)
		}
	}
	// a new folder has the present format, and is not migrated
	r := newRig(t, nil)
	var log bytes.Buffer
	r.must(r.Close())
	f, err := Open(r.dir, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	r.must(err)
	r.must(f.Close())
	if log.Len() > 0 {
		t.Errorf("a folder of the present format is migrated: %s", &log)
	}
}

// TestMigrationIsLogged: the log of a worker shows why it does not crawl yet.
func TestMigrationIsLogged(t *testing.T) {
	dir := t.TempDir()
	readFormer(t).write(t, dir)
	var log bytes.Buffer
	f, err := Open(dir, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if !strings.Contains(log.String(), "present format") || !strings.Contains(log.String(), "moved=212") {
		t.Errorf("the log says %s", &log)
	}
}

func trusted(t testing.TB, url string) urls.URL {
	t.Helper()
	u, err := urls.Trusted(url)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
