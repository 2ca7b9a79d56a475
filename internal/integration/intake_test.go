package integration

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
)

const serveToken = "a-token-of-the-test"

// serve runs `muninn intake` until the test's end, and returns its address.
func serve(t *testing.T, server *Server) (base string) {
	t.Helper()
	cmd := exec.Command(Program(t, "muninn"), "intake", "--listen", "127.0.0.1:0", "--temporal", server.Address)
	cmd.Env = append(os.Environ(), "MUNINN_INTAKE_TOKEN="+serveToken)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("muninn intake ends with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	_, base, found := strings.Cut(strings.TrimSpace(line), "serving at ")
	if err != nil || !found {
		t.Fatalf("muninn intake says %q, %v", line, err)
	}
	return base
}

// hand posts a list of URLs to a crawl.
func hand(t *testing.T, base, name, key, token, list string) (code int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/crawls/"+name+"/urls", strings.NewReader(list))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(raw)
}

// Programs hand URLs to a running crawl over HTTP: scores are taken by the crawl's update function, once for each key also by two services,
// and a URL that is blacklisted while a batch has it is not requested.
func TestServe(t *testing.T) {
	t.Parallel()
	Program(t, "muninn")
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 32, Trace: true}, 1, 2000))
	dir := t.TempDir()
	worker := StartWorker(t, Config(server, world, dir))
	known, archive := worker.Activities().Frontier, filepath.Join(dir, "archive")
	d := Definition("handed", world)
	d.Order.PerQueue, d.Order.Strategy, d.Order.Update = 40, crawl.StrategyWeighted, crawl.UpdateSum
	d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(200*time.Millisecond), crawl.Duration(200*time.Millisecond)
	StartCrawl(t, server.Client, d)
	base, second := serve(t, server), serve(t, server)

	// claimed is a URL that a batch has and has not requested.
	claimed := func() string {
		asked := map[string]bool{}
		for _, a := range world.Trace() {
			asked[a.URL] = true
		}
		found := ""
		err := known.Crawl(d.Name).URLs().Known(func(url, state string) error {
			if state != "waiting" || asked[url] || found != "" || strings.Contains(url, "/private/") { // which robots.txt disallows
				return nil
			}
			u, err := urls.Parse(url)
			if err != nil {
				return err
			}
			if e, err := known.Crawl(d.Name).URLs().Explain(u); err == nil && e.State == "claimed" {
				found = url
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	banned, since := "", time.Time{}
	Until(t, soon, "a batch has many URLs, and one of them is blacklisted before its request", func() string {
		if s, err := known.Crawl(d.Name).Status(); err != nil || s.Claimed < 20 || s.Lanes == 0 {
			return fmt.Sprintf("%+v, %v", s, err)
		}
		if banned = claimed(); banned == "" {
			return "none is waiting for its request"
		}
		code, body := hand(t, base, d.Name, "", serveToken, fmt.Sprintf(`[{"url": %q, "blacklisted": true}]`, banned))
		if since = time.Now(); code != http.StatusOK || !strings.Contains(body, `"answer":"blacklisted"`) {
			t.Fatal(code, body)
		}
		for _, a := range world.Trace() {
			if a.URL == banned && a.Began.Before(since) { // the lane was faster than the order: take another one
				return a.String()
			}
		}
		return ""
	})

	seed := d.Seeds[0].URL
	list := fmt.Sprintf(`[{"url": %q, "score": 0.5, "via": "http://other.example/"}, {"url": "http://elsewhere.example/", "score": 1}, {"url": "http://[/", "score": 1}]`, seed+"handed-in?n=1")
	code, body := hand(t, base, d.Name, "17", serveToken, list)
	for _, want := range []string{`"answer":"accepted"`, `"answer":"out of scope"`, `"answer":"malformed"`} {
		if code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%d %s, want %s", code, body, want)
		}
	}
	for _, at := range []string{base, second} { // which knows of the key from Temporal alone
		if _, again := hand(t, at, d.Name, "17", serveToken, list); again != body {
			t.Errorf("%s once more: %s, want %s", at, again, body)
		}
	}
	u, err := urls.Parse(seed + "handed-in?n=1")
	if err != nil {
		t.Fatal(err)
	}
	if e, err := known.Crawl(d.Name).URLs().Explain(u); err != nil || e.Links != 1 || e.First != 0.5 || e.Via != "http://other.example/" {
		t.Errorf("%+v, %v", e, err)
	}

	if code, body := hand(t, base, d.Name, "", "no token of ours", list); code != http.StatusUnauthorized {
		t.Error(code, body)
	}
	if code, body := hand(t, base, "nobody", "", serveToken, list); code != http.StatusNotFound {
		t.Error(code, body)
	}
	if u, err = urls.Parse(banned); err != nil {
		t.Fatal(err)
	}
	Until(t, soon, "the batch that had the banned URL ends", func() string {
		if e, err := known.Crawl(d.Name).URLs().Explain(u); err != nil || e.State == "claimed" {
			return fmt.Sprintf("it is %s, %v", e.State, err)
		}
		return ""
	})
	for _, a := range world.Trace() {
		if a.URL == banned {
			t.Errorf("%v after it was blacklisted: %v", a.Began.Sub(since), a)
		}
	}
	o := operator{t, server}
	o.muninn(0, "abort", d.Name)
	Result(t, server.Client, d.Name, CrawlTime)
	if code, body := hand(t, base, d.Name, "", serveToken, list); code != http.StatusConflict {
		t.Error(code, body)
	}
	Check(t, archive)
	if text, _ := o.muninn(0, "log", archive, "--failed"); !strings.Contains(text, banned) || !strings.Contains(text, "it was submitted as blacklisted") {
		t.Errorf("the log does not say what became of %s: %.500s", banned, text)
	}
}
