package worker

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/disk"
)

// Everything that prevents a worker from starting is reported at once, with the names of the settings.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	kb := filepath.Join(dir, "kb")
	for _, path := range []string{kb, filepath.Join(kb, "applications")} {
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(kb, "applications", "x.xml"), []byte("<application"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	conf := DefaultConfig()
	conf.Temporal.Address, conf.Data, conf.Archive, conf.Knowledge = "127.0.0.1:1", filepath.Join(dir, "data"), filepath.Join(dir, "file"), kb
	conf.Lanes, conf.DiskFloor = 0, crawl.Bytes(1<<60)
	err := Check(t.Context(), conf, slog.New(slog.DiscardHandler))
	for _, want := range []string{"lanes must be", "free some space, or set another disk-floor", "setting kb", "setting archive", "127.0.0.1:1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	_, err = Start(t.Context(), conf, slog.New(slog.DiscardHandler))
	if err == nil {
		t.Fatal("it starts")
	}
	good := DefaultConfig()
	good.Temporal.Address, good.Data = "", filepath.Join(dir, "good")
	if err := Check(t.Context(), good, slog.New(slog.DiscardHandler)); err != nil {
		t.Error(err)
	}
}

// A worker that cannot start reports faults of Temporal together with its own.
func TestStartReportsAll(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	conf := DefaultConfig()
	conf.Temporal.Address, conf.Data, conf.Archive = "127.0.0.1:1", filepath.Join(dir, "data"), filepath.Join(dir, "file")
	_, err := Start(t.Context(), conf, slog.New(slog.DiscardHandler))
	for _, want := range []string{"setting archive", "no Temporal service answers at 127.0.0.1:1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// A second process on a data folder gets an error that names the first one.
func TestLockedFrontier(t *testing.T) {
	dir := t.TempDir()
	f, err := frontier.Open(dir, frontier.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	_, err = frontier.Open(dir, frontier.Options{})
	if err == nil || !strings.Contains(err.Error(), "in use by another process") || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) || strings.Contains(err.Error(), "Badger") {
		t.Error(err)
	}
}

// A wrong value is explained in words; an unknown setting is reported with its line and a similar setting.
func TestPlainFaults(t *testing.T) {
	for args, want := range map[string]string{
		"--lanes=abc":      `"abc" is not a whole number, such as 256`,
		"--give-back=5":    `"5" is not a duration: write it as 30s, 5m or 24h`,
		"--verify-tls=yep": `"yep" must be true or false`,
	} {
		conf := DefaultConfig()
		fs := pflag.NewFlagSet("worker", pflag.ContinueOnError)
		conf.Flags(fs)
		if err := fs.Parse([]string{args}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "strconv") {
			t.Errorf("%s: %v", args, err)
		}
	}
	for text, want := range map[string]string{
		"round: 3\nlane: 3\n": `line 2: setting "lane" is not known: did you mean lanes?`,
		"lanes: many\n":       `setting lanes: "many" is not a whole number`,
		"xyzzy: 1\n":          "line 1",
	} {
		file := filepath.Join(t.TempDir(), "worker.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		conf := DefaultConfig()
		conf.Flags(pflag.NewFlagSet("worker", pflag.ContinueOnError))
		if err := conf.Load(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	conf := DefaultConfig()
	conf.DNS, conf.Archive, conf.DiskFloor = "nonsense", "s3:/arc/p", 255<<20
	err := conf.Validate()
	for _, want := range []string{"9.9.9.9:53", "disk-floor is 255.0 MiB, must be at least 256.0 MiB", `archive "s3:/arc/p" must be s3://bucket/prefix`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	for _, floor := range []crawl.Bytes{0, disk.LeastFloor} {
		conf := DefaultConfig()
		if conf.DiskFloor = floor; conf.Validate() != nil {
			t.Errorf("disk-floor %s: %v", floor, conf.Validate())
		}
	}
}
