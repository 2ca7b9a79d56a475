package page

import (
	"bytes"
	"context"
	"encoding/base64"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/browser"
	"github.com/muninn-archive/muninn/internal/fixture"
)

// TestReferencesInBrowser: all that a browser requests for the page of references is found, if it runs no scripts. What it requests when it
// runs them is found too, or listed as not found.
func TestReferencesInBrowser(t *testing.T) {
	chromium := fixture.Chromium(t, browser.Find)
	letters, excused, later := referencesOf(t), map[string]bool{}, map[string]bool{}
	for _, k := range listedKinds(t) {
		excused[k[0]], later[k[0]] = k[1] == "-", strings.HasPrefix(k[2], "is for later pages: ")
	}
	for policy, least := range map[string]int{"sandbox allow-same-origin": 80, "": 90} {
		requested := requestsOf(t, chromium, policy)
		var missing, alone []string
		for name := range requested {
			if letters[name] == "" && !later[name] && (policy != "" || !excused[name]) {
				missing = append(missing, name)
			}
		}
		for name, letter := range letters {
			if !requested[name] && letter == "E" {
				alone = append(alone, name)
			}
		}
		slices.Sort(missing)
		slices.Sort(alone)
		t.Logf("policy %q: the browser requests %d; parts found that it does not request: %d\n%s", policy, len(requested), len(alone), strings.Join(alone, " "))
		if len(requested) < least || len(missing) > 0 {
			t.Errorf("policy %q: %d requests, not found: %s", policy, len(requested), strings.Join(missing, " "))
		}
	}
}

// requestsOf has a browser load the page of references, under a Content-Security-Policy, and returns what it requests for that.
func requestsOf(t *testing.T, chromium, policy string) map[string]bool {
	t.Helper()
	var lock sync.Mutex
	requested := map[string]bool{}
	image, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		requested[r.URL.RequestURI()] = true
		lock.Unlock()
		body, err := os.ReadFile(filepath.Join("testdata", "references", r.URL.Path))
		switch kind := mimeOf(r.URL.Path); {
		case err == nil:
			body = bytes.ReplaceAll(body, []byte("a.test"), []byte(r.Host))
		case path.Ext(r.URL.Path) == ".svg":
			body = []byte(`<svg xmlns="http://www.w3.org/2000/svg"><g id="a"/></svg>`)
		case strings.HasPrefix(kind, "image/"):
			body = image
		}
		w.Header().Set("Content-Type", mimeOf(r.URL.Path))
		w.Header().Set("Content-Security-Policy", policy)
		if links := linksOf(r.URL.Path); links != "" {
			w.Header().Set("Link", links)
		}
		_, _ = w.Write(body)
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	folder := t.TempDir()
	command := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-proxy-server", "--user-data-dir="+folder,
		"--window-size=1200,9000", "--virtual-time-budget=10000", "--screenshot="+filepath.Join(folder, "page.png"), server.URL+"/index.html")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lock.Lock()
	defer lock.Unlock()
	delete(requested, "/index.html")
	return maps.Clone(requested)
}
