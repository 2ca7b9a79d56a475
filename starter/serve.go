package starter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue/sqlite"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/pdf"
	"github.com/muninn-archive/muninn/internal/room"
	"github.com/muninn-archive/muninn/internal/room/views"
	"github.com/muninn-archive/muninn/internal/search/bleve"
	"github.com/muninn-archive/muninn/internal/selection/desk"
)

// roomOptions are the flags of `muninn serve`.
type roomOptions struct {
	archives                                   []string
	views                                      string // a database; empty: a folder
	listen, data, token, proxy, rules          string
	replay, replayListen, replayOrigin, origin string
	derive, decide                             bool
	who                                        string
	s3                                         *archive.S3
}

func serveCommand(g *globals) *cobra.Command {
	o := roomOptions{listen: "127.0.0.1:8480", derive: true}
	cmd := &cobra.Command{
		Use: "serve", Short: "Open the reading room: search, read and replay what was archived", Args: cli.NoArgs,
		Long: `Open the reading room: pages that search, show and replay what was archived, each as JSON, too (?format=json). It reads
archives, and follows those that crawls write into. What it finds things by, a catalogue and a search index, is in --data: it
is built when the server starts, and again if it is lost. Texts that the search needs are derived in the archive, beside the
segments, unless --derive=false says that only what ` + "`muninn derive`" + ` has made is searched.

--views postgres://… has both in a PostgreSQL database (15 or later) in their place, for large archives and for several servers at a time.

Selections of ` + "`muninn select`" + ` have pages, too. With --decide people decide on them what is kept: on a loopback address the one that --who names, behind
a proxy each that it names. Nothing else can be written by the room.

Without a token or a proxy it can be reached from this machine alone. docs/READING.md describes pages, rules and replay.

  muninn serve --archive muninn-data/archive
  muninn serve --archive muninn-data/archive --decide --who "Ann Smith"
  muninn serve --archive s3://archive/crawls --listen :8480 --token /etc/muninn/room-token --rules rules.yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if cmd.Flags().Changed("who") && !o.decide {
				return cli.Usage("--who says who decides: it needs --decide")
			}
			if o.who == "" && o.proxy == "" {
				o.who = fromEnv("MUNINN_WHO", os.Getenv("USER"))
			}
			return g.serveRoom(ctx, o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.archives, "archive", []string{localConfig().Archive}, "archive that is shown, a folder or s3://bucket/prefix; may be given several times")
	f.StringVar(&o.listen, "listen", o.listen, "address of the room, HOST:PORT")
	viewsFlags(f, &o)
	f.StringVar(&o.token, "token", "", "file of the token that readers need, of 16 bytes at least")
	f.StringVar(&o.proxy, "trust-proxy", "", "header in which a proxy in front of the room names the reader")
	f.StringVar(&o.rules, "rules", "", "file of rules that say what is open, and from when (YAML)")
	f.StringVar(&o.replay, "replay", "", "folder of ReplayWeb.page's files (make replay)")
	f.StringVar(&o.replayListen, "replay-listen", "", "address of replay, HOST:PORT (default: the next port)")
	f.StringVar(&o.replayOrigin, "replay-origin", "", "how readers reach replay, such as https://replay.example.org (default: as they reach the room, at the port of replay)")
	f.StringVar(&o.origin, "origin", "", "how readers reach the room, if they reach replay by --replay-origin")
	f.BoolVar(&o.decide, "decide", false, "let people decide what selections keep")
	f.StringVar(&o.who, "who", "", "name of the person who decides, on a loopback address; also MUNINN_WHO (default: $USER)")
	o.s3 = s3Flags(cmd)
	groupFlags(cmd, "archive", "listen", "data", "views", "replay", "token", "trust-proxy", "rules", "decide", "who", "derive")
	return cmd
}

// viewsFlags are those of commands that open the views.
func viewsFlags(f *pflag.FlagSet, o *roomOptions) {
	f.StringVar(&o.data, "data", "", "folder of the views (default: below the cache folder of the user)")
	f.StringVar(&o.views, "views", "", "PostgreSQL database of the views, postgres://USER@HOST/DATABASE, in place of a folder; a password is read from PGPASSWORD or ~/.pgpass (default: MUNINN_VIEWS)")
	f.BoolVar(&o.derive, "derive", o.derive, "derive texts that are missing")
}

// stores opens the archives.
func (o *roomOptions) stores(ctx context.Context) (list []archive.Store, err error) {
	for _, where := range o.archives {
		if where == "" {
			return nil, cli.Usage("the name of an archive is empty: give a folder, or s3://bucket/prefix")
		}
		store, err := openArchive(ctx, where, *o.s3)
		if err == nil && o.decide { // that entries can be put there is tried
			store, err = archive.Open(ctx, where, *o.s3)
		}
		if err != nil {
			return nil, fmt.Errorf("archive %s: %w", where, err)
		}
		list = append(list, archive.Faults(store))
	}
	return list, nil
}

// serving is what `serve` prints.
type serving struct {
	Listen  string   `json:"listen"`
	Room    string   `json:"room"`
	Replay  string   `json:"replay,omitempty"`
	Views   string   `json:"views"`
	Rebuilt bool     `json:"rebuilt,omitempty"` // the views were of another archive
	Shown   []string `json:"crawls"`
	Decides string   `json:"decides,omitempty"` // who decides what selections keep
}

func (s serving) write(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("reading room at %s", s.Room)
	if s.Replay != "" {
		line("  replay at %s", s.Replay)
	}
	line("  crawls: %s; Ctrl-C ends", strings.Join(s.Shown, ", "))
	if s.Decides != "" {
		line("  selections at %sselections, decided by %s", s.Room, shownText(s.Decides))
	}
	if s.Rebuilt {
		line("  the views in %s were of another archive, and are built again", s.Views)
	}
}

// readers reads what says who may read.
func (o *roomOptions) readers() (room.Readers, error) {
	r := room.Readers{Header: o.proxy}
	if o.token != "" {
		raw, err := os.ReadFile(o.token)
		if err != nil {
			return r, cli.Usage("--token: %v", err)
		}
		if r.Token = strings.TrimSpace(string(raw)); r.Token == "" {
			return r, cli.Usage("--token: %s is empty", o.token)
		}
	}
	if err := errors.Join(r.Check(o.listen), r.Check(o.replayAddress())); err != nil {
		return r, cli.Usage("--listen: %v", err)
	}
	return r, nil
}

// replayAddress is where replay listens: at the next port, or a free one beside a free one.
func (o *roomOptions) replayAddress() string {
	if o.replayListen != "" {
		return o.replayListen
	}
	host, port, _ := net.SplitHostPort(o.listen)
	n, err := strconv.Atoi(port)
	if err == nil && n > 0 {
		n++
	}
	return net.JoinHostPort(host, strconv.Itoa(n))
}

// deciders says who may decide; nil: nobody.
func (o *roomOptions) deciders(readers room.Readers) (*room.Deciders, error) {
	if !o.decide {
		return nil, nil
	}
	d := &room.Deciders{Who: o.who, Origin: o.origin}
	if err := d.Check(readers, o.listen); err != nil {
		return nil, cli.Usage("--decide: %v", err)
	}
	return d, nil
}

func (o *roomOptions) readRules() (r room.Rules, err error) {
	if o.rules == "" {
		return r, nil
	}
	raw, err := os.ReadFile(o.rules)
	if err == nil {
		r, err = room.ReadRules(raw)
	}
	if err != nil {
		return r, cli.Usage("--rules: %v", err)
	}
	return r, nil
}

// folder is that of the views of some archives: other archives have another one.
func (o *roomOptions) folder(stores []archive.Store) (string, error) {
	base := o.data
	if base == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", cli.Usage("--data is needed: %v", err)
		}
		base = filepath.Join(cache, "muninn")
	}
	var names []string
	for _, s := range stores {
		names = append(names, s.String())
	}
	slices.Sort(names)
	sum := sha256.Sum256([]byte(strings.Join(names, "\n")))
	return filepath.Join(base, "views-"+hex.EncodeToString(sum[:6])), nil
}

func (g *globals) serveRoom(ctx context.Context, o roomOptions) (err error) {
	readers, err := o.readers()
	if err != nil {
		return err
	}
	deciders, err := o.deciders(readers)
	if err != nil {
		return err
	}
	rules, err := o.readRules()
	if err != nil {
		return err
	}
	var replay *room.Replay
	if o.replay != "" {
		replay = &room.Replay{Dir: o.replay, Origin: o.replayOrigin, Room: o.origin}
		if err := replay.Check(); err != nil {
			return cli.Usage("--replay: %v", err)
		}
	}
	stores, err := o.stores(ctx)
	if err != nil {
		return err
	}
	v, stale, free, err := o.open(ctx, stores, g.logger(os.Stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	door := room.NewDoor(rules, v, v.Index, time.Now)
	return g.openRoom(ctx, o, v, room.Config{
		Door: door, Crawls: v.Crawls, Readers: readers, Replay: replay, State: v.State, PDF: v.PDF, Log: v.Log,
		Desk: desk.New(desk.Config{Archives: stores, Shown: door.Selects(), Now: time.Now, Log: v.Log}), Deciders: deciders,
	}, stale)
}

// open opens the views.
func (o *roomOptions) open(ctx context.Context, stores []archive.Store, log *slog.Logger) (v *views.Views, stale string, free func() error, err error) {
	where, err := o.database()
	if err != nil {
		return nil, "", nil, err
	}
	if where == "" {
		return o.openFolder(ctx, stores, log)
	}
	db, err := views.OpenDatabase(ctx, where)
	if err != nil {
		return nil, "", nil, fmt.Errorf("--views: %w", err)
	}
	conf := o.built(stores, log)
	conf.Catalogue, conf.Index = db.Catalogue, db.Index
	v = views.New(conf)
	if err := errors.Join(db.Check(ctx, stores), v.List(ctx)); err != nil {
		return nil, "", nil, errors.Join(fmt.Errorf("--views: %w", err), db.Close())
	}
	return v, "", db.Close, nil
}

// database is that of the views; empty: they are in a folder.
func (o *roomOptions) database() (string, error) {
	switch {
	case o.views != "" && o.data != "":
		return "", cli.Usage("--views and --data: views are in a database or in a folder")
	case o.views == "" && o.data == "":
		return os.Getenv("MUNINN_VIEWS"), nil
	}
	return o.views, nil
}

// built says what views are built of, but not where they are.
func (o *roomOptions) built(stores []archive.Store, log *slog.Logger) views.Config {
	return views.Config{Archives: stores, Derive: o.derive, PDF: pdf.New(pdf.DefaultLimits()).Read, Log: log, Now: time.Now}
}

// builtFolder is what the views are in, below their folder, which has the lock beside it.
const builtFolder = "built"

// lock takes the folder of the views for this process.
func (o *roomOptions) lock(stores []archive.Store) (dir string, release func(), err error) {
	if dir, err = o.folder(stores); err != nil {
		return "", nil, err
	}
	if release, err = lockData(dir); errors.Is(err, errDataInUse) {
		err = fmt.Errorf("the views in %s are open in another muninn, as in a running `muninn serve`: ask that one (`muninn search QUERY --server http://127.0.0.1:8480`, without an archive), end it, or have views of your own (--data FOLDER)", dir)
	}
	return dir, release, err
}

// openFolder opens views in a folder.
func (o *roomOptions) openFolder(ctx context.Context, stores []archive.Store, log *slog.Logger) (v *views.Views, stale string, free func() error, err error) {
	dir, release, err := o.lock(stores)
	if err != nil {
		return nil, "", nil, err
	}
	closers := []func() error{func() error { release(); return nil }}
	closeAll := func() (err error) {
		for _, c := range slices.Backward(closers) {
			err = errors.Join(err, c())
		}
		return err
	}
	defer func() { // free is nil when an error is returned
		if err != nil {
			free, err = nil, errors.Join(err, closeAll())
		}
	}()
	journal, rebuilt, err := views.OpenJournal(ctx, filepath.Join(dir, builtFolder), stores)
	if err != nil {
		return nil, "", nil, err
	}
	closers = append(closers, journal.Close)
	captures, err := sqlite.Open(ctx, filepath.Join(dir, builtFolder, "catalogue"))
	if err != nil {
		return nil, "", nil, err
	}
	closers = append(closers, captures.Close)
	index, err := bleve.Open(filepath.Join(dir, builtFolder, "index"))
	if err != nil {
		return nil, "", nil, err
	}
	closers = append(closers, index.Close)
	conf := o.built(stores, log)
	conf.Catalogue, conf.Index, conf.Before = captures, index, journal.Add
	v = views.New(conf)
	if rebuilt {
		stale = dir
	}
	return v, stale, closeAll, v.List(ctx)
}
