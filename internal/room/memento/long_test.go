package memento_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/catalogue/catalogtest"
)

// TestLongPaths: paths of half a megabyte are answered at once.
func TestLongPaths(t *testing.T) {
	r := newRig(t)
	r.archive.Segment("a.example-1@w.1", catalogtest.Response{URL: "http://a.example/", Body: "<p>a"})
	r.fill()
	const n = 1 << 19
	for _, path := range []string{
		"web/" + strings.Repeat("1", n), "web/http://a.example/" + strings.Repeat("%25", n/3), "web/http://" + strings.Repeat("a.", n/2), "web/http://a.example/?" + strings.Repeat("a&", n/2),
		"web/timemap/link/@" + strings.Repeat("A", n) + "/a.example", "cite/" + strings.Repeat("a/", n/2), "web/http://a.example/" + strings.Repeat("../", n/3), "web/http://[" + strings.Repeat(":", n),
	} {
		for _, part := range []string{path, path[:4000]} {
			request := httptest.NewRequest("GET", "/", nil)
			request.URL.Path = "/" + part
			answer, began := httptest.NewRecorder(), time.Now()
			r.handler.ServeHTTP(answer, request)
			if took := time.Since(began); took > 5*time.Second || answer.Code >= 500 {
				t.Errorf("%.40s… of %d bytes: %d after %v", part, len(part), answer.Code, took)
			}
		}
	}
}
