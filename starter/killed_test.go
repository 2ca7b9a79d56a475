package starter

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// killedCommand is the variable by which the tests below start their program again, as muninn with its arguments, one a line.
const killedCommand = "MUNINN_KILLED_COMMAND"

// kills are the moments at which a command is killed.
const kills = 30

// runIfChild runs the command line of a child, and ends the process.
func runIfChild() {
	if args := os.Getenv(killedCommand); args != "" {
		os.Exit(Main(strings.Split(args, "\n")))
	}
}

// child is `muninn` with arguments, as a process of its own.
func child(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), killedCommand+"="+strings.Join(args, "\n"))
	return cmd
}

// killedArchive is a folder archive with segments of pages.
func killedArchive(t *testing.T, segments int) string {
	dir := t.TempDir()
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range segments {
		url := fmt.Sprintf("http://h%d.example/%d", i%7, i)
		pageSegment(t, store, "ravens", fmt.Sprintf("b%03d", i), url, fmt.Sprintf("<title>Page %d</title><p>%s<a href=/x%d>next</a>", i, strings.Repeat(fmt.Sprintf("raven %d flies. ", i), 2000), i))
	}
	return dir
}

// killThirtyTimes runs a command, which takes about as long as it took undisturbed, and kills it (SIGKILL) at random moments. reset makes it begin again
// when it has come to its end. It returns how often the process was killed while it ran.
func killThirtyTimes(t *testing.T, took time.Duration, reset func(), args ...string) (killed int) {
	t.Helper()
	random, whole := rand.New(rand.NewPCG(1, 2)), true
	for range kills {
		cmd, begun := child(t, args...), time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(random.Int64N(int64(took))), func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err == nil {
			if whole { // the machine may have been busier as the undisturbed run was timed: all runs would come to their ends
				took = min(took, time.Since(begun))
			}
			reset()
		} else if cmd.ProcessState.ExitCode() != -1 {
			t.Errorf("it fails after it was killed: %v", err)
		} else {
			killed++
		}
		timer.Stop()
		whole = cmd.ProcessState.Success()
	}
	return killed
}

// undisturbed runs a command to its end, and returns how long it took.
func undisturbed(t *testing.T, args ...string) time.Duration {
	t.Helper()
	begun := time.Now()
	if out, err := child(t, args...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v: %s", args, err, out)
	}
	return time.Since(begun)
}

// unfinished begins the names of files that a folder archive was writing when its process was killed. They are no objects: no listing
// has them.
const unfinished = ".new-"

// filesBelow are the objects below a folder.
func filesBelow(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), unfinished) {
			return err
		}
		raw, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		files[rel] = raw
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// sameFiles compares files with those of an undisturbed run.
func sameFiles(t *testing.T, got, want map[string][]byte) {
	t.Helper()
	for name, raw := range want {
		if !bytes.Equal(got[name], raw) {
			t.Errorf("%s has %d bytes, undisturbed %d, or other ones", name, len(got[name]), len(raw))
		}
	}
	for name := range got {
		if _, is := want[name]; !is {
			t.Errorf("%s is there, and not undisturbed", name)
		}
	}
}

// TestLongExportKilled: an export that is killed at thirty random moments, and given again, has the bytes of one that was not disturbed.
func TestLongExportKilled(t *testing.T) {
	runIfChild()
	from := killedArchive(t, 100)
	for _, format := range []string{"warc", "wacz"} { // thirty moments of each
		base := t.TempDir()
		args := func(to string) []string {
			return []string{"export", from, "ravens", "--to", filepath.Join(base, to), "--format", format, "--size", "100KiB", "--json"}
		}
		took := undisturbed(t, args("whole")...)
		want, ended := filesBelow(t, filepath.Join(base, "whole")), 0
		killed := killThirtyTimes(t, took, func() {
			ended++
			sameFiles(t, filesBelow(t, filepath.Join(base, "killed")), want)
			if err := os.RemoveAll(filepath.Join(base, "killed")); err != nil {
				t.Fatal(err)
			}
		}, args("killed")...)
		undisturbed(t, args("killed")...)
		sameFiles(t, filesBelow(t, filepath.Join(base, "killed")), want)
		t.Logf("%s: %d files in %v; %d of %d were killed, it came to its end %d times", format, len(want), took, killed, kills, ended)
		if killed < kills/3 {
			t.Errorf("%s: only %d processes were killed", format, killed)
		}
	}
}

// TestLongDeriveKilled: `muninn derive` that is killed at thirty random moments, and given again, leaves the derivations of one that was not disturbed: the
// same data, and manifests that differ in nothing but the time.
func TestLongDeriveKilled(t *testing.T) {
	runIfChild()
	whole, dir := killedArchive(t, 60), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
		t.Fatal(err)
	}
	args := func(dir string) []string { return []string{"derive", dir, "--json"} }
	took := undisturbed(t, args(whole)...)
	want, derived, ended := timeless(filesBelow(t, whole)), filepath.Join(dir, "ravens", "derived"), 0
	killed := killThirtyTimes(t, took, func() {
		ended++
		sameFiles(t, timeless(filesBelow(t, dir)), want)
		if err := os.RemoveAll(derived); err != nil {
			t.Fatal(err)
		}
	}, args(dir)...)
	undisturbed(t, args(dir)...)
	sameFiles(t, timeless(filesBelow(t, dir)), want)
	n := len(filesBelow(t, filepath.Join(whole, "ravens", "derived")))
	t.Logf("%d files in %v; %d of %d were killed, it came to its end %d times", n, took, killed, kills, ended)
	if killed < kills/3 || n != 2*60 {
		t.Errorf("%d processes were killed, %d files are derived", killed, n)
	}
}

// derivedAt is the time in the manifest of a derivation.
var derivedAt = regexp.MustCompile(`"created": *"[^"]*"`)

// timeless takes the time out of manifests of derivations.
func timeless(files map[string][]byte) map[string][]byte {
	for name, raw := range files {
		if strings.Contains(name, "derived") && strings.HasSuffix(name, ".json") {
			files[name] = derivedAt.ReplaceAll(raw, nil)
		}
	}
	return files
}
