package webworld

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// site is a host with what it serves.
type site struct {
	Site
	base      string // http://host:port
	rules     rules
	resources map[string]*resource            // by key
	paths     []string                        // as they were added: path and query
	dynamic   func(*url.URL) *resource        // asked for what resources lacks; may be nil
	hiccup    func(nth int) (*resource, bool) // may answer the nth page request instead; may be nil
	asked     atomic.Int64                    // page requests, for hiccup
	gzip      bool                            // compress when asked
	etag      bool                            // send validators and honour them
	dated     time.Time                       // of the validators
	defaults  http.Header                     // of every response
}

// resource is what one URL answers.
type resource struct {
	Page
	uri     string          // path and query
	header  http.Header     // beyond the site's
	body    [][]byte        // in pieces, so that pages may share them
	gz      [][]byte        // the same compressed; nil if it is never sent so
	zip     func() [][]byte // makes gz when it is asked for; may be nil
	chunked bool            // send without Content-Length
	slow    time.Duration   // between the body and its last byte
	robots  bool            // a part of robots.txt
	raw     rawAnswer       // answers instead of all the above; may be nil
}

func (res *resource) compressed() [][]byte {
	if res.zip != nil {
		return res.zip()
	}
	return res.gz
}

// setRobots gives the site its rules; sitemap may be empty.
func (s *site) setRobots(rs rules, sitemap string) {
	s.rules, s.CrawlDelay = rs, rs.delay
	s.Robots = rs.text(sitemap)
	s.addRobots("/robots.txt", &resource{Page: Page{Status: http.StatusOK}, body: [][]byte{[]byte(s.Robots)}})
}

func (s *site) addRobots(path string, res *resource) {
	res.robots = true
	res.Kind, res.URL, res.Host, res.Allowed = "robots", s.base+path, s.Host, true
	if res.header == nil {
		res.header = http.Header{}
	}
	res.header.Set("Content-Type", "text/plain; charset=utf-8")
	res.uri = path
	s.resources[key(mustParse(path))] = res
	if path == "/robots.txt" {
		s.RobotsCode = res.Status
	}
}

// add puts a resource at a path with query. The result may be changed until the world is served.
func (s *site) add(uri, kind string, relevant bool, contentType string, body []byte) *resource {
	res := &resource{
		uri: uri,
		Page: Page{
			URL: s.base + uri, Host: s.Host, Kind: kind, Relevant: relevant,
			Allowed: s.rules.allows(uri), Status: http.StatusOK,
		},
		header: http.Header{"Content-Type": {contentType}},
		body:   [][]byte{body},
	}
	return s.put(res)
}

func (s *site) put(res *resource) *resource {
	k := key(mustParse(res.uri))
	if _, taken := s.resources[k]; taken {
		panic(fmt.Sprintf("webworld: two resources at %s%s", s.base, res.uri))
	}
	s.resources[k] = res
	s.paths = append(s.paths, res.uri)
	return res
}

// addHTML is add for a page in UTF-8.
func (s *site) addHTML(uri, kind string, relevant bool, body []byte) *resource {
	return s.add(uri, kind, relevant, "text/html; charset=utf-8", body)
}

// redirect answers with a status of the 300s; location is sent as it is.
func (s *site) redirect(uri string, status int, location string) *resource {
	res := s.addHTML(uri, "redirect", false, fmt.Appendf(nil, "<html><body>Moved: <a href=%q>here</a></body></html>\n", location))
	res.Status = status
	res.header.Set("Location", location)
	target := mustParse(s.base + uri).ResolveReference(mustParse(location))
	res.Location = target.String()
	return res
}

// alias serves the body of another resource of any site under a second URL.
func (s *site) alias(uri string, of *resource) *resource {
	res := *of
	res.uri, res.URL, res.Host, res.SameAs = uri, s.base+uri, s.Host, of.URL
	res.Allowed = s.rules.allows(uri)
	res.header = maps.Clone(of.header)
	return s.put(&res)
}

// find looks a request up; nil means 404.
func (s *site) find(u *url.URL) *resource {
	if res, ok := s.resources[key(u)]; ok {
		return res
	}
	if s.dynamic != nil {
		return s.dynamic(u)
	}
	return nil
}

// missing is the page for what find does not know.
func (s *site) missing(uri string) *resource {
	return &resource{
		uri:    uri,
		Page:   Page{URL: s.base + uri, Host: s.Host, Kind: "missing", Allowed: s.rules.allows(uri), Status: http.StatusNotFound},
		header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		body:   [][]byte{[]byte("<!DOCTYPE html><html><head><title>Not found</title></head><body><h1>404</h1><p>Nothing here.</p></body></html>\n")},
	}
}

// finish adds validators and compressed bodies once all pages are written.
func (s *site) finish(writer *gzip.Writer) error {
	for _, k := range slices.Sorted(maps.Keys(s.resources)) {
		res := s.resources[k]
		if res.raw != nil || res.robots || res.Status != http.StatusOK {
			continue
		}
		if s.etag {
			res.header.Set("ETag", fmt.Sprintf(`"%016x"`, digest(res.body)))
			res.header.Set("Last-Modified", s.dated.UTC().Format(http.TimeFormat))
		}
		if s.gzip && res.gz == nil && strings.HasPrefix(res.header.Get("Content-Type"), "text/") {
			z, err := compress(writer, res.body)
			if err != nil {
				return fmt.Errorf("compress %s: %w", res.URL, err)
			}
			res.gz = [][]byte{z}
		}
	}
	return nil
}

// key is the same for URLs that the servers treat as one: session ids and the order of parameters do
// not matter.
func key(u *url.URL) string {
	path := cmp.Or(u.Path, "/")
	if u.RawQuery == "" {
		return path
	}
	q := u.Query()
	q.Del("sid")
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// mustParse parses what this package has written itself.
func mustParse(raw string) *url.URL {
	u, err := url.Parse(raw)
	if err != nil {
		panic(fmt.Sprintf("webworld: own URL %q: %v", raw, err))
	}
	return u
}

func digest(pieces [][]byte) uint64 {
	h := fnv.New64a()
	for _, p := range pieces {
		h.Write(p)
	}
	return h.Sum64()
}

// compress makes one gzip file with z, which is kept for the next one: a writer is a megabyte.
func compress(z *gzip.Writer, pieces [][]byte) ([]byte, error) {
	var out bytes.Buffer
	z.Reset(&out)
	for _, p := range pieces {
		if _, err := z.Write(p); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
