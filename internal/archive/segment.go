package archive

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/nlnwa/gowarc/v2"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// The levels of compression: of text, and of what is compressed already, which is stored as it is.
const (
	levelText   = 3
	levelPacked = gzip.NoCompression
)

// Label has the names and descriptions of a segment, for its warcinfo record and its manifest.
type Label struct {
	Crawl       string
	Batch       string
	Nonce       string // of the batch's life
	Run         uint32 // of the crawl; 0: not known
	Worker      string
	Instance    string // of the worker's data folder; empty: not known
	Prefix      string // put before every key
	Operator    string
	Agent       string
	Robots      string // what is made of robots.txt; empty: it is obeyed
	Software    string
	Description string
	Digest      string // the algorithm of digests, as crawl.Archive has it
}

// Capture is one exchange to archive. Response and Body are opened again for each reading.
type Capture struct {
	crawl.Exchange
	Request  io.Reader
	Response func() io.Reader // header block and body
	Header   func() io.Reader // header block alone
	Body     func() io.Reader
	Page     *crawl.Judged // nil if nothing was understood
	Lacking
}

// Lacking counts URLs that a page embeds by which it is not complete in the archive when it is archived.
type Lacking struct {
	Missing int // are not in the archive
	Queued  int // of them: are given to the frontier, to be asked for later
	Cut     int // of them: are left out, because the page embeds more than it may (crawl.Page.CutRequisites)
}

// Recorded says how a capture was archived.
type Recorded struct {
	ID       string // of its record
	Digest   string // payload digest
	Revisit  bool
	Original bool        // later captures may be revisits of it
	Visit    crawl.Visit // the original of a revisit, else itself; with validators if it is a whole page
}

// Segment collects the captures, the index and the sidecars of a batch in working files. Close frees them, committed or not.
type Segment struct {
	label    Label
	created  time.Time
	warc     *warcFile
	fields   []byte // of a metadata record, for short use
	index    []indexed
	links    linksSidecar
	objects  sidecar
	log      sidecar
	seen     map[string]crawl.Visit
	original func(url, digest string) (crawl.Visit, bool)
	counts   Counts
}

// Counts are the numbers of a segment.
type Counts struct {
	Pages     int   `json:"pages"` // responses and revisits, without robots.txt
	Responses int   `json:"responses"`
	Revisits  int   `json:"revisits"`
	Robots    int   `json:"robots"`
	DNS       int   `json:"dns"`
	Shown     int   `json:"shown,omitempty"` // documents and pictures of pages that browsers have opened
	Links     int   `json:"outlinks"`
	Objects   int   `json:"web_objects,omitempty"`
	Logged    int   `json:"log_lines,omitempty"`
	Payload   int64 `json:"payload_bytes"` // bytes of responses on the wire
	// RequisitesCut is the sum of Lacking.Cut; missing in segments of earlier versions.
	RequisitesCut int `json:"requisites_cut,omitempty"`
}

// indexed is a line of the segment's index, and the key that it is sorted by.
type indexed struct {
	key string
	Indexed
}

// NewSegment begins a segment with working files in dir. original finds an earlier capture with the same
// payload digest that a capture of a URL may refer to.
func NewSegment(dir string, label Label, created time.Time, original func(url, digest string) (crawl.Visit, bool)) (*Segment, error) {
	w, err := newWARC(dir, label.Digest)
	if err != nil {
		return nil, err
	}
	s := &Segment{label: label, created: created, warc: w, seen: map[string]crawl.Visit{}, original: original}
	if err = errors.Join(s.links.open(), s.objects.open(), s.log.open()); err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	return s, s.warcinfo()
}

// LinksBy says who is meant to read the links to a partition that lead to other PLDs: those of one owner stand together, so that it reads and
// parses no others. Owners are small numbers. Who owns a partition may change later: then its owner reads more.
func (s *Segment) LinksBy(owner func(partition int) int) { s.links.owner = owner }

// Close frees the segment's working files.
func (s *Segment) Close() {
	s.warc.free()
	s.links.free()
	s.objects.free()
	s.log.free()
}

func (s *Segment) warcinfo() error {
	id := newID()
	_, err := s.warc.write(record{
		kind: gowarc.Warcinfo, id: id, date: s.created, contentType: gowarc.ApplicationWarcFields, level: levelText,
		block: bytes.NewReader(appendFields(nil, [][2]string{
			{"software", s.label.Software},
			{"format", "WARC File Format 1.1"},
			{"conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
			{"operator", s.label.Operator},
			{"http-header-user-agent", s.label.Agent},
			{"robots", cmp.Or(s.label.Robots, "rfc9309")},
			{"isPartOf", s.label.Crawl},
			{"description", s.label.Description},
			{"muninn-batch", s.label.Batch},
		})),
	})
	s.warc.info = id
	return err
}

// Resource archives a DNS answer.
func (s *Segment) Resource(c Capture) error {
	id := newID()
	digest, _, err := s.warc.payloadDigest(c.Response())
	if err != nil {
		return err
	}
	_, err = s.warc.write(record{
		kind: gowarc.Resource, id: id, date: c.Started, target: c.URL, contentType: c.MIME, level: levelText,
		headers: [][2]string{{gowarc.WarcPayloadDigest, digest}}, block: c.Response(),
	})
	s.counts.DNS++
	return err
}

// Show archives what a browser made of a page, which another record of the segment holds: its document (urn:dom:URL) or a picture of it (urn:view:URL).
func (s *Segment) Show(c Capture, of string) error {
	digest, _, err := s.warc.payloadDigest(c.Response())
	if err != nil {
		return err
	}
	rec := record{
		kind: gowarc.Resource, id: newID(), date: c.Started, target: "urn:dom:" + c.URL, contentType: c.MIME, level: levelText,
		headers: [][2]string{{gowarc.WarcPayloadDigest, digest}, {gowarc.WarcTruncated, c.Truncated}}, block: c.Response(),
	}
	if of != "" {
		rec.headers = append(rec.headers, [2]string{gowarc.WarcConcurrentTo, "<" + of + ">"})
	}
	if c.Kind == crawl.ExchangeView {
		rec.target, rec.level = "urn:view:"+c.URL, levelPacked
	}
	_, err = s.warc.write(rec)
	s.counts.Shown++
	return err
}

// Add archives a request, its response (or a revisit of an earlier one) and its metadata.
func (s *Segment) Add(c Capture) (Recorded, error) {
	digest, size, err := s.warc.payloadDigest(c.Body())
	if err != nil {
		return Recorded{}, fmt.Errorf("archive %s: %w", c.URL, err)
	}
	id := newID()
	if c.Headerless() {
		c.MIME = sniffed(c.Body())
	}
	rec, out := s.response(c, digest)
	rec.id, rec.date, rec.target = id, c.Started, c.URL
	out.ID = id
	at, err := s.warc.write(rec)
	if err != nil {
		return out, err
	}
	s.addIndex(c, out, at)
	_, err = s.warc.write(record{
		kind: gowarc.Request, id: newID(), date: c.Started, target: c.URL,
		contentType: "application/http; msgtype=request", block: c.Request, level: levelPacked,
		headers: [][2]string{{gowarc.WarcConcurrentTo, "<" + id + ">"}, {gowarc.WarcIPAddress, c.IP}},
	})
	if err != nil {
		return out, err
	}
	s.fields = appendMetadata(s.fields[:0], c)
	_, err = s.warc.write(record{
		kind: gowarc.Metadata, id: newID(), date: c.Started, target: c.URL, contentType: gowarc.ApplicationWarcFields,
		block: bytes.NewReader(s.fields), level: levelText, headers: [][2]string{{gowarc.WarcConcurrentTo, "<" + id + ">"}},
	})
	if err != nil {
		return out, err
	}
	s.count(c, out)
	s.counts.Payload += c.HeaderBytes + size
	s.addLinks(c)
	return out, s.addObjects(c)
}

// response chooses between a response record and a revisit record.
func (s *Segment) response(c Capture, digest string) (record, Recorded) {
	out := Recorded{Digest: digest, Visit: crawl.Visit{
		Digest: digest, URL: c.URL, Date: c.Started.UTC().Truncate(time.Second), Shown: c.Outcome.Visit.Shown, Partial: c.Partial(),
	}}
	if c.Original() {
		out.Visit.ETag, out.Visit.LastModified = c.Outcome.Visit.ETag, c.Outcome.Visit.LastModified
	}
	rec := record{kind: gowarc.Response, contentType: "application/http; msgtype=response", level: levelText}
	if c.Encoding != "" || packed(c.MIME) {
		rec.level = levelPacked
	}
	profile := ""
	if c.Outcome.Kind == crawl.OutcomeUnmodified {
		profile = gowarc.ProfileServerNotModifiedV1_1
		out.Visit, out.Digest = c.Outcome.Visit, c.Outcome.Visit.Digest
	} else if c.Original() && c.Kind != crawl.ExchangeRobots {
		if original, known := s.find(c.URL, digest); known {
			profile = gowarc.ProfileIdenticalPayloadDigestV1_1
			out.Visit.Date, out.Visit.URL = original.Date, original.URL
		} else {
			s.seen[digest], out.Original = out.Visit, true
		}
	}
	if profile == "" {
		rec.block = c.Response()
		if c.Headerless() { // a response record must have a message of HTTP/1
			rec.kind, rec.contentType = gowarc.Resource, c.MIME
		}
		rec.headers = [][2]string{{gowarc.WarcIPAddress, c.IP}, {gowarc.WarcPayloadDigest, digest}, {gowarc.WarcTruncated, c.Truncated}}
		return rec, out
	}
	out.Revisit = true
	rec.kind, rec.block, rec.level = gowarc.Revisit, c.Header(), levelText
	if c.Outcome.Kind == crawl.OutcomeUnmodified {
		// Replay puts the headers of a revisit before the payload that it refers to, and those of a 304 lack
		// its type and encoding. Without a block, the original's are taken; the 304's are in the metadata.
		rec.block = strings.NewReader("")
	}
	rec.headers = [][2]string{
		{gowarc.WarcIPAddress, c.IP}, {gowarc.WarcPayloadDigest, out.Digest}, {gowarc.WarcProfile, profile},
		{gowarc.WarcRefersToTargetURI, out.Visit.URL}, {gowarc.WarcRefersToDate, out.Visit.Date.UTC().Format(time.RFC3339)},
	}
	return rec, out
}

func (s *Segment) find(url, digest string) (crawl.Visit, bool) {
	if digest == s.warc.empty { // captures without a body are not revisits of each other
		return crawl.Visit{}, false
	}
	if v, ok := s.seen[digest]; ok {
		return v, true
	}
	return s.original(url, digest)
}

func packed(mime string) bool {
	for _, prefix := range []string{"image/", "video/", "audio/", "application/zip", "application/pdf", "application/gzip", "font/"} {
		if strings.HasPrefix(mime, prefix) {
			return mime != "image/svg+xml"
		}
	}
	return false
}

// sniffed is the media type of a body that came without one (WHATWG MIME Sniffing).
func sniffed(body io.Reader) string {
	head := make([]byte, 512)
	n, _ := io.ReadFull(body, head)
	kind, _, _ := strings.Cut(http.DetectContentType(head[:n]), ";")
	return kind
}

func (s *Segment) count(c Capture, out Recorded) {
	s.counts.RequisitesCut += c.Cut
	switch {
	case c.Kind == crawl.ExchangeRobots:
		s.counts.Robots++
	default:
		s.counts.Pages++
	}
	if out.Revisit {
		s.counts.Revisits++
	} else {
		s.counts.Responses++
	}
}

// Empty reports whether there is nothing to archive.
func (s *Segment) Empty() bool { return !s.captured() && s.log.lines == 0 }

// captured reports whether any record but warcinfo was written.
func (s *Segment) captured() bool { return s.warc.count > 1 }
