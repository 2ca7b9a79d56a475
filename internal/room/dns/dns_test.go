package dns_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/catalogue/sqlite"
	"github.com/muninn-archive/muninn/internal/room/dns"
)

func filled(t testing.TB) catalogue.Catalogue {
	t.Helper()
	c, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	s := catalogue.Segment{SegmentName: catalogue.SegmentName{Crawl: archive.CrawlAt{Name: "c"}, Name: "s"}}
	for _, a := range [][3]string{
		{"a.example", "192.0.2.7", "2025"}, {"a.example", "192.0.2.8", "2026"}, {"a.example", "192.0.2.7", "2027"}, {"b.example", "192.0.2.7", "2026"},
		{"c.example", "192.0.2.7", "2024"}, {"a.example", "2001:db8::1", "2025"},
	} {
		at, err := time.Parse("2006", a[2])
		if err != nil {
			t.Fatal(err)
		}
		s.Answers = append(s.Answers, catalogue.Answer{Name: a[0], Address: netip.MustParseAddr(a[1]), Date: at})
	}
	if err := c.AddSegments(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return c
}

// ask returns the answer to a query, as "name or address: first year–last year, times".
func ask(t testing.TB, c catalogue.Catalogue, query string) (h dns.History, list []string) {
	t.Helper()
	answer := httptest.NewRecorder()
	dns.New(c).ServeHTTP(answer, httptest.NewRequest("GET", "/dns?"+query, nil))
	if err := json.Unmarshal(answer.Body.Bytes(), &h); err != nil || answer.Code != 200 {
		t.Fatalf("%s: %d, %v: %s", query, answer.Code, err, answer.Body)
	}
	for _, s := range h.List {
		list = append(list, fmt.Sprintf("%s%s: %d–%d, %d", s.Name, s.Address, s.First.Year(), s.Last.Year(), s.Times))
	}
	return h, list
}

// TestHistory: which names stood behind an address, and when; which addresses a name had.
func TestHistory(t *testing.T) {
	c := filled(t)
	for query, want := range map[string][]string{
		"address=192.0.2.7":                      {"a.example: 2025–2027, 2", "b.example: 2026–2026, 1", "c.example: 2024–2024, 1"},
		"address=::ffff:192.0.2.7&from=2026":     {"a.example: 2027–2027, 1", "b.example: 2026–2026, 1"},
		"address=192.0.2.7&to=2025":              {"a.example: 2025–2025, 1", "c.example: 2024–2024, 1"},
		"address=2001:db8:0::1":                  {"a.example: 2025–2025, 1"},
		"address=192.0.2.9":                      nil,
		"name=A.example.":                        {"192.0.2.7: 2025–2027, 2", "192.0.2.8: 2026–2026, 1", "2001:db8::1: 2025–2025, 1"},
		"name=a.example&from=2026&to=2026":       {"192.0.2.8: 2026–2026, 1"},
		"name=none.example":                      nil,
		"name=a.example&limit=1&after=192.0.2.7": {"192.0.2.8: 2026–2026, 1"},
	} {
		if _, got := ask(t, c, query); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{"name=a.example", "address=192.0.2.7"} {
		_, whole := ask(t, c, query)
		var got []string
		after, pages := "", 0
		for ; pages < 5; pages++ {
			h, list := ask(t, c, query+"&limit=1&after="+after)
			got = append(got, list...)
			if after = h.Next; after == "" {
				break
			}
		}
		if !slices.Equal(got, whole) || pages != 2 {
			t.Errorf("%s: in pages %q, want %q", query, got, whole)
		}
	}
}

func TestWrong(t *testing.T) {
	h := dns.New(filled(t))
	for query, parameter := range map[string]string{
		"": "name", "name=a&address=192.0.2.7": "address", "address=x": "address", "address=fe80::1%25eth0": "address", "name=.": "name", "name=a&from=x": "from", "name=a&to=1": "to",
		"name=a&from=2026&to=2025": "to", "name=a&limit=0": "limit", "name=a&limit=10001": "limit", "name=a&after=x": "after", "name=%": "",
	} {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequest("GET", "/dns?"+query, nil))
		var said struct{ Parameter, Message string }
		if err := json.Unmarshal(answer.Body.Bytes(), &said); err != nil || answer.Code != 400 || said.Parameter != parameter || !strings.HasPrefix(said.Message, parameter) {
			t.Errorf("%s: %d, %s", query, answer.Code, answer.Body)
		}
	}
	answer := httptest.NewRecorder()
	if h.ServeHTTP(answer, httptest.NewRequest("DELETE", "/dns?name=a", nil)); answer.Code != 405 {
		t.Errorf("DELETE: %d", answer.Code)
	}
}
