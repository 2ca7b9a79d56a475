package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// profileSeconds is how long one profile of the worker lasts.
const profileSeconds = 5

// profiles takes CPU profiles of a worker, one after the other, until stop is called, which waits for the last and returns
// their files.
func profiles(ctx context.Context, dir, name, listen string) (stop func() []string) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan []string)
	go func() {
		var files []string
		for ctx.Err() == nil {
			file := filepath.Join(dir, fmt.Sprintf("%s-%d.pprof", name, len(files)))
			if err := download(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", listen, profileSeconds), file); err != nil {
				fmt.Fprintln(os.Stderr, "muninn-bench: profile:", err)
				break
			}
			files = append(files, file)
		}
		done <- files
	}()
	return func() []string {
		cancel()
		return <-done
	}
}

// profiles takes profiles of all workers side by side.
func (p processes) profiles(ctx context.Context, dir string) (stop func() []string) {
	stops := make([]func() []string, len(p.workers))
	for i, one := range p.workers {
		stops[i] = profiles(ctx, dir, fmt.Sprint("cpu-", i+1), one.listen)
	}
	return func() (files []string) {
		for _, stop := range stops {
			files = append(files, stop()...)
		}
		return files
	}
}

func download(url, file string) (err error) {
	in, err := http.Get(url)
	if err != nil {
		return err
	}
	defer func() { _ = in.Body.Close() }()
	if in.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, in.Status)
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in.Body)
	return err
}

// beside are functions whose goroutines belong to no step, with the part that they count for.
var beside = map[string]string{
	"runtime.gcBgMarkWorker": "garbage collector",
	"github.com/muninn-archive/muninn/frontier.(*Frontier).writer": "frontier",
}

var (
	tagLine   = regexp.MustCompile(`^\s*([0-9.]+)ms \( *[0-9.]+%\): (.+)$`)
	totalLine = regexp.MustCompile(`Total samples = ([0-9.]+)ms|of ([0-9.]+)ms total`)
	topLine   = regexp.MustCompile(`([0-9.]+)ms +[0-9.]+% +(\S+)$`)
)

// shares are milliseconds of CPU time by step, from the profiles. Samples outside of all steps count for the garbage collector, for
// the frontier, which writes for several steps at a time, or for the other: Temporal's client, workflows, the runtime.
func shares(ctx context.Context, files []string) (map[string]float64, error) {
	tags, err := pprofText(ctx, "-tags", files)
	if err != nil {
		return nil, err
	}
	top, err := pprofText(ctx, "-top", files)
	if err != nil {
		return nil, err
	}
	return readShares(tags, top), nil
}

// readShares reads the output of pprof for the label "step", and for all functions.
func readShares(tags, top string) map[string]float64 {
	out, other := map[string]float64{}, 0.0
	for line := range strings.Lines(top) {
		if m := totalLine.FindStringSubmatch(line); m != nil && other == 0 {
			other = number(m[1] + m[2])
		}
		if m := topLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil && beside[m[2]] != "" {
			out[beside[m[2]]] = number(m[1])
		}
	}
	inStep := false
	for line := range strings.Lines(tags) {
		if !strings.HasPrefix(line, "  ") || strings.Contains(line, ": Total ") {
			inStep = strings.HasPrefix(strings.TrimSpace(line), "step:")
			continue
		}
		if m := tagLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil && inStep {
			out[m[2]] = number(m[1])
		}
	}
	for _, ms := range out {
		other -= ms
	}
	out["other"] = max(other, 0)
	return out
}

func number(text string) float64 {
	n, _ := strconv.ParseFloat(text, 64)
	return n
}

func pprofText(ctx context.Context, report string, files []string) (string, error) {
	args := append([]string{"tool", "pprof", report, "-cum", "-unit=ms", "-nodefraction=0", "-nodecount=0"}, files...)
	text, err := exec.CommandContext(ctx, "go", args...).Output()
	if err != nil {
		return "", fmt.Errorf("go tool pprof %s: %w", report, err)
	}
	return string(text), nil
}

// printShares prints each step's part of the worker's CPU time, the largest first.
func printShares(all map[string]float64) {
	total := 0.0
	for _, ms := range all {
		total += ms
	}
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(cmp.Compare(all[b], all[a]), cmp.Compare(a, b)) })
	text := make([]string, len(names))
	for i, name := range names {
		text[i] = fmt.Sprintf("%s %.0f %%", name, 100*all[name]/max(total, 1))
	}
	fmt.Println("  shares of the worker, by profile:", strings.Join(text, ", "))
}
