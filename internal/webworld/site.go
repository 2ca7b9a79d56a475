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

// Host is a site with its resources.
type Host struct {
	Site
	Base      string // http://host:port
	Rules     Rules
	Resources map[string]*Resource            // by key
	Paths     []string                        // as they were added: path and query
	Dynamic   func(*url.URL) *Resource        // asked for what resources lacks; may be nil
	hiccup    func(nth int) (*Resource, bool) // may answer the nth page request instead; may be nil
	asked     atomic.Int64                    // page requests, for hiccup
	Gzip      bool                            // compress when asked
	ETag      bool                            // send validators and honour them
	Dated     time.Time                       // of the validators
	defaults  http.Header                     // of every response
}

// Resource is the answer to requests for one URL.
type Resource struct {
	Page
	URI     string          // path and query
	Header  http.Header     // beyond the site's
	Body    [][]byte        // in pieces, so that pages may share them
	gz      [][]byte        // the same compressed; nil if it is never sent so
	Zip     func() [][]byte // makes gz when it is asked for; may be nil
	chunked bool            // send without Content-Length
	Slow    time.Duration   // between the body and its last byte
	robots  bool            // a part of robots.txt
	Raw     RawAnswer       // answers instead of all the above; may be nil
}

// Compressed is the body as gzip; nil if it is never sent so.
func (res *Resource) Compressed() [][]byte {
	if res.Zip != nil {
		return res.Zip()
	}
	return res.gz
}

// SetRobots gives the site its rules; sitemap may be empty.
func (s *Host) SetRobots(rs Rules, sitemap string) {
	s.Rules, s.CrawlDelay = rs, rs.Delay
	s.Robots = rs.text(sitemap)
	s.AddRobots("/robots.txt", &Resource{Page: Page{Status: http.StatusOK}, Body: [][]byte{[]byte(s.Robots)}})
}

// AddRobots puts a part of robots.txt at a path: the file, or a redirect to another place.
func (s *Host) AddRobots(path string, res *Resource) {
	res.robots = true
	res.Kind, res.URL, res.Host, res.Allowed = "robots", s.Base+path, s.Host, true
	if res.Header == nil {
		res.Header = http.Header{}
	}
	res.Header.Set("Content-Type", "text/plain; charset=utf-8")
	res.URI = path
	s.Resources[key(MustParse(path))] = res
	if path == "/robots.txt" {
		s.RobotsCode = res.Status
	}
}

// add puts a resource at a path with query. The result may be changed until the world is served.
func (s *Host) add(uri, kind string, relevant bool, contentType string, body []byte) *Resource {
	res := &Resource{
		URI: uri,
		Page: Page{
			URL: s.Base + uri, Host: s.Host, Kind: kind, Relevant: relevant,
			Allowed: s.Rules.Allows(uri), Status: http.StatusOK,
		},
		Header: http.Header{"Content-Type": {contentType}},
		Body:   [][]byte{body},
	}
	return s.put(res)
}

func (s *Host) put(res *Resource) *Resource {
	k := key(MustParse(res.URI))
	if _, taken := s.Resources[k]; taken {
		panic(fmt.Sprintf("webworld: two resources at %s%s", s.Base, res.URI))
	}
	s.Resources[k] = res
	s.Paths = append(s.Paths, res.URI)
	return res
}

// AddHTML adds an HTML page in UTF-8 at a path with query. The result may be changed until the world is served.
func (s *Host) AddHTML(uri, kind string, relevant bool, body []byte) *Resource {
	return s.add(uri, kind, relevant, "text/html; charset=utf-8", body)
}

// Redirect adds a redirect with a 3xx status. location is sent unchanged.
func (s *Host) Redirect(uri string, status int, location string) *Resource {
	res := s.AddHTML(uri, "redirect", false, fmt.Appendf(nil, "<html><body>Moved: <a href=%q>here</a></body></html>\n", location))
	res.Status = status
	res.Header.Set("Location", location)
	target := MustParse(s.Base + uri).ResolveReference(MustParse(location))
	res.Location = target.String()
	return res
}

// alias serves the body of another resource of any site under a second URL.
func (s *Host) alias(uri string, of *Resource) *Resource {
	res := *of
	res.URI, res.URL, res.Host, res.SameAs = uri, s.Base+uri, s.Host, of.URL
	res.Allowed = s.Rules.Allows(uri)
	res.Header = maps.Clone(of.Header)
	return s.put(&res)
}

// Find returns the resource for a URL; nil if it is not found (404).
func (s *Host) Find(u *url.URL) *Resource {
	if res, ok := s.Resources[key(u)]; ok {
		return res
	}
	if s.Dynamic != nil {
		return s.Dynamic(u)
	}
	return nil
}

// Missing is the 404 page, for URLs that Find does not know.
func (s *Host) Missing(uri string) *Resource {
	return &Resource{
		URI:    uri,
		Page:   Page{URL: s.Base + uri, Host: s.Host, Kind: "missing", Allowed: s.Rules.Allows(uri), Status: http.StatusNotFound},
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		Body:   [][]byte{[]byte("<!DOCTYPE html><html><head><title>Not found</title></head><body><h1>404</h1><p>Nothing here.</p></body></html>\n")},
	}
}

// finish adds validators and compressed bodies once all pages are written.
func (s *Host) finish(writer *gzip.Writer) error {
	for _, k := range slices.Sorted(maps.Keys(s.Resources)) {
		res := s.Resources[k]
		if res.Raw != nil || res.robots || res.Status != http.StatusOK {
			continue
		}
		if s.ETag {
			res.Header.Set("ETag", fmt.Sprintf(`"%016x"`, digest(res.Body)))
			res.Header.Set("Last-Modified", s.Dated.UTC().Format(http.TimeFormat))
		}
		if s.Gzip && res.gz == nil && strings.HasPrefix(res.Header.Get("Content-Type"), "text/") {
			z, err := compress(writer, res.Body)
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

// MustParse parses a URL that this package has written; it panics if that is wrong.
func MustParse(raw string) *url.URL {
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

// compress makes a gzip file with z, which is reused because a writer takes a megabyte.
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
