package integration

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/faults"
)

// faultsMemory bounds the resident memory of a crawler on a web of broken servers, in MiB: 1 GB. muninn run lets the heap grow as a
// worker does (worker.BoundMemory), so that it takes more than with Go's defaults.
const faultsMemory = 953

// TestLongFaults crawls a web of broken servers: the crawl ends, and each server's good page is archived.
func TestLongFaults(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, faults.New(webworld.Options{Seed: 1, FirstIP: netip.MustParseAddr("127.95.0.1")}))
	d := Definition("faults", world)
	d.Scope.Within, d.Scope.Exclude = crawl.WithinWeb, []string{`re:/link/\d\d`} // ten of 100,000 dead links will do
	s := newSite(t, world, d, "--temporal", server.Address, "--max-attempts", "2", "--retry-base", "200ms", "--robots-retry", "200ms",
		"--first-byte", "4s", "--idle-timeout", "4s", "--total-timeout", "8s", "--robots-timeout", "13s", "--body-bytes", "12MiB",
		"--batch-time", "40s", "--lanes", "64")
	dialled := watchDials(t, "FEA9FEA9")
	began := time.Now()
	p := s.start()
	peak := watchMemory(p)
	if code := p.end(CrawlTime); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, lines(p.out.String()))
	}
	took := time.Since(began)

	memory := peak()
	if memory == 0 {
		t.Fatal("the crawler's memory was not measured")
	}
	t.Logf("%v, %d MiB at most, %v of CPU\n%s", took.Round(100*time.Millisecond), memory,
		(p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()).Round(10*time.Millisecond), lines(p.out.String()))
	if memory > faultsMemory*raceFactor {
		t.Errorf("the crawler took %d MiB, want %d at most", memory, faultsMemory*raceFactor)
	}
	if dialled() {
		t.Error("the metadata service's address was dialled")
	}
	report := Faultless(t, s.archive())
	for _, p := range world.Pages() {
		if after := strings.HasSuffix(p.URL, "/after"); after && p.Allowed && report.Pages[p.URL] != 1 {
			t.Errorf("%s is there %d times, want once", p.URL, report.Pages[p.URL])
		}
	}
	t.Logf("the archive holds %d URLs in %d segments, %d bytes; %d orphans", len(report.Pages), report.Segments, report.Bytes, len(report.Orphans))
	faultsOutcomes(t, s, d.Name)
	stats := world.Stats()
	if len(stats.Disallowed) > 0 || stats.PeakConnections > 1 {
		t.Errorf("asked for what robots.txt disallows: %v; %d connections at once", stats.Disallowed, stats.PeakConnections)
	}
}

// watchMemory measures the peak of a program's resident memory until its end, in MiB. The maximum that the system reports of a child that has ended is that of its parent if
// that had more when it started the child: this process runs other tests.
func watchMemory(p *program) (peak func() int64) {
	most, watched := int64(0), make(chan struct{})
	go func() {
		defer close(watched)
		for {
			raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
			if _, rest, is := strings.Cut(string(raw), "VmHWM:"); is {
				if kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64); err == nil {
					most = max(most, kib>>10)
				}
			}
			select {
			case <-p.done:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		<-watched
		return most
	}
}

// faultsOutcomes checks the frontier that the crawl left.
func faultsOutcomes(t *testing.T, s *site, name string) {
	t.Helper()
	front, err := frontier.Open(filepath.Join(s.dir, "data", frontier.Folder), frontier.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	t.Logf("known URLs by state: %v", checkOutcomes(t, front.Crawl(name)))
	metadata := ""
	err = front.Crawl(name).URLs().Known(func(url, state string) error {
		if strings.HasPrefix(url, "http://169.254.169.254/") {
			metadata = state
		}
		if strings.Contains(url, "muterobots") && state != "refused" {
			t.Errorf("%s is %s, though its robots.txt never came", url, state)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if metadata != "refused" {
		t.Errorf("the redirect to the metadata service is %q, want refused", metadata)
	}
}

// watchDials watches for connections to an address, in the form of /proc/net/tcp, until seen is called;
// connections that are being opened count, too.
func watchDials(t *testing.T, address string) (seen func() bool) {
	t.Helper()
	const table = "/proc/net/tcp"
	if _, err := os.Stat(table); err != nil {
		return func() bool { return false }
	}
	stop, result := make(chan struct{}), make(chan bool, 1)
	go func() {
		found := false
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				result <- found
				return
			case <-tick.C:
				raw, _ := os.ReadFile(table)
				found = found || strings.Contains(string(raw), " "+address+":")
			}
		}
	}()
	return func() bool {
		close(stop)
		return <-result
	}
}
