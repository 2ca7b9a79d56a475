package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLongReadingRoom: `muninn demo` ends with the command line of the reading room, which shows what the demo has archived, answers as CDX and Memento
// servers do, ends by an interrupt, and finds its views again, or builds them again if they are deleted.
func TestLongReadingRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	demo := exec.CommandContext(t.Context(), Program(t, "muninn"), "demo", "--dir", filepath.Join(dir, "demo"))
	out, err := demo.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	archive := filepath.Join(dir, "demo", "archive")
	if !strings.Contains(string(out), "muninn serve --archive "+archive) {
		t.Errorf("the demo does not end with the command line of the reading room:\n%s", out)
	}
	data := filepath.Join(dir, "views")
	counts := map[string]int{}
	for _, round := range []string{"new", "again", "deleted"} {
		if round == "deleted" {
			if err := os.RemoveAll(data); err != nil {
				t.Fatal(err)
			}
		}
		begun := time.Now()
		base, end := startRoom(t, "--archive", archive, "--data", data, "--listen", "127.0.0.1:0")
		waitForViews(t, base)
		ready := time.Since(begun)
		var found struct {
			Total int
			Hits  []struct{ Address, URL, Date string }
		}
		getJSON(t, base+"/search?q=raven", &found)
		counts[round] = found.Total
		if found.Total < 100 || len(found.Hits) != 20 {
			t.Fatalf("%s: raven: %d", round, found.Total)
		}
		var capture struct{ Text, Citation string }
		getJSON(t, base+found.Hits[0].Address, &capture)
		if !strings.Contains(strings.ToLower(capture.Text), "raven") {
			t.Errorf("%s: %s says %q", round, found.Hits[0].Address, capture.Text)
		}
		if text := get(t, base+capture.Citation); !strings.HasPrefix(capture.Citation, "/cite/demo/") || !strings.Contains(strings.ToLower(text), "raven") {
			t.Errorf("%s: the citation %q leads to %.200q", round, capture.Citation, text)
		}
		address := found.Hits[0].URL
		for path, says := range map[string]string{
			"/": "demo", "/crawl?name=demo": "robots.txt disallows it", "/host?host=blog.ravens.example": "Relevance over time", "/calendar?url=" + url.QueryEscape(address): "captures",
			"/cdx?url=" + url.QueryEscape(address): address, "/web/timemap/link/" + address: "memento", "/search?q=" + url.QueryEscape("type:article app:mediawiki"): "MediaWiki",
		} {
			if text := get(t, base+path); !strings.Contains(text, says) {
				t.Errorf("%s: %s does not say %q: %.500s", round, path, says, text)
			}
		}
		end()
		t.Logf("%s: %d hits; views are built %v after the start", round, found.Total, ready.Round(time.Millisecond))
	}
	if counts["new"] != counts["again"] || counts["new"] != counts["deleted"] {
		t.Errorf("%v", counts)
	}
	killRoom(t, archive, data)
}

// killRoom kills the server at thirty moments while it derives and builds its views: at the end it finds the same as one that was never killed.
func killRoom(t *testing.T, archive, data string) {
	t.Helper()
	all := func() (list string) {
		base, end := startRoom(t, "--archive", archive, "--data", data, "--listen", "127.0.0.1:0")
		defer end()
		waitForViews(t, base)
		for _, path := range []string{"/search?hits=100&fold=no&q=raven", "/search?hits=100&q=type:post"} {
			var found struct {
				Total int
				Hits  []struct{ Address string }
			}
			getJSON(t, base+path, &found)
			list += fmt.Sprintln(found)
		}
		return list + get(t, base+"/cdx?url=*")
	}
	want := all()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 30 {
		if i%3 == 0 { // there is all to do again
			derived, err := filepath.Glob(filepath.Join(archive, "*", "derived"))
			if err != nil || len(derived) == 0 && i > 0 {
				t.Logf("kill %d: nothing was derived: %v", i, err)
			}
			for _, dir := range append(derived, data) {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			}
		}
		cmd := exec.Command(Program(t, "muninn"), "serve", "--json", "--archive", archive, "--data", data, "--listen", "127.0.0.1:0")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(2500 * time.Millisecond)))) // no state of the server is waited for: any moment will do
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	if got := all(); got != want {
		t.Errorf("after thirty kills it finds\n%.3000s\nwant\n%.3000s", got, want)
	}
}

// startRoom starts `muninn serve`; end interrupts it.
func startRoom(t *testing.T, args ...string) (base string, end func()) {
	t.Helper()
	return startRoomWith(t, nil, args...)
}

// startRoomWith is startRoom with more in its environment.
func startRoomWith(t *testing.T, env []string, args ...string) (base string, end func()) {
	t.Helper()
	said, end := startServing(t, env, args...)
	return said.Room, end
}

// serving is what `muninn serve` says: where the room and its replay are.
type serving struct{ Room, Replay string }

// startServing starts `muninn serve` with more in its environment. Its addresses have no slash at the end.
func startServing(t *testing.T, env []string, args ...string) (said serving, end func()) {
	t.Helper()
	cmd := exec.Command(Program(t, "muninn"), append([]string{"serve", "--json"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func() {
		if ended {
			return
		}
		ended = true
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil || complaints.Len() > 0 {
			t.Errorf("muninn serve ends with %v, and says %q", err, complaints.String())
		}
	}
	t.Cleanup(end)
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&said); err != nil {
		t.Fatalf("muninn serve: %v, %s", err, complaints.String())
	}
	said.Room = strings.TrimSuffix(said.Room, "/")
	return said, end
}

// waitForViews waits until all segments are found.
func waitForViews(t *testing.T, base string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.After(2 * time.Minute)
	for {
		var crawls struct {
			Views struct{ Segments, Viewed int }
		}
		getJSON(t, base+"/crawls", &crawls)
		if v := crawls.Views; v.Segments > 0 && v.Segments == v.Viewed {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("the views are not built: %+v", crawls)
		}
	}
}

func get(t *testing.T, address string) string {
	t.Helper()
	return string(getAs(t, address, "text/html"))
}

func getJSON(t *testing.T, address string, into any) {
	t.Helper()
	if err := json.Unmarshal(getAs(t, address, "application/json"), into); err != nil {
		t.Fatalf("%s: %v", address, err)
	}
}

func getAs(t *testing.T, address, kind string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", kind)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %.300s", address, answer.Status, err, raw)
	}
	return raw
}
