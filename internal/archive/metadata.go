package archive

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/scope"
)

// appendMetadata appends the block of a metadata record: via, hop path, fetch time, scores, findings of the helper, and the
// outlinks (WARC/1.1 §6.5 and Heritrix's "outlink: URL letter context").
func appendMetadata(b []byte, c Capture) []byte {
	b = appendFields(b, [][2]string{
		{"via", c.Via}, {"hopsFromSeed", strings.TrimPrefix(scope.UnmarkedPath(c.Path), crawl.HopSeed.String())},
		{"fetchTimeMs", strconv.FormatInt(c.Elapsed.Milliseconds(), 10)}, {"muninn-http-fault", c.Fault},
	})
	switch c.Outcome.Kind {
	case crawl.OutcomeRetry:
		b = appendField(b, "muninn-outcome", oneLine(string(c.Outcome.Kind)+": "+c.Outcome.Reason))
	case crawl.OutcomeUnmodified:
		b = appendHeader(b, c.Header())
	}
	if c.Disallowed {
		b = appendField(b, "muninn-robots-txt", "disallowed")
	}
	p := c.Page
	if p == nil {
		return b
	}
	if score := p.Verdict.Score; score >= 0 {
		b = appendField(b, "muninn-score", strconv.FormatFloat(score, 'f', 4, 64))
	}
	b = appendFields(b, [][2]string{
		{"title", p.Title}, {"language", p.Language}, {"charset", p.Charset}, {"muninn-undecoded", p.Undecoded},
		{"muninn-application", p.Application}, {"muninn-version", p.Version}, {"muninn-level", p.Level},
		{"muninn-rule", strings.TrimSpace(p.Rule + " " + p.LevelRule)}, {"muninn-links-not-followed", p.Unfollowed},
		{"muninn-robots", p.Robots}, {"muninn-browser", p.Opened},
	})
	if p.Application != "" {
		b = appendField(b, "muninn-confidence", strconv.FormatFloat(p.Confidence, 'f', 2, 64))
		b = appendField(b, "muninn-kb", oneLine(p.Base))
	}
	if c.Missing > 0 {
		b = appendField(b, "muninn-requisites-missing", strconv.Itoa(c.Missing))
		b = appendField(b, "muninn-requisites-queued", strconv.Itoa(c.Queued))
	}
	if p.LinksCut > 0 {
		b = appendField(b, "muninn-links-cut", strconv.Itoa(p.LinksCut))
	}
	for _, url := range p.Loaded {
		b = appendField(b, "muninn-loaded", oneLine(url))
	}
	for i := range p.Objects {
		b = appendField(b, "muninn-object", oneLine(object(&p.Objects[i])))
	}
	for _, links := range [...][]crawl.Outlink{p.Links, p.Cut} {
		b = appendOutlinks(b, links)
	}
	return b
}

func appendOutlinks(b []byte, links []crawl.Outlink) []byte {
	for i := range links {
		l := &links[i]
		b = append(append(append(b, "outlink: "...), oneLine(l.URL)...), ' ')
		b = append(append(append(b, l.Hop.String()...), ' '), oneLine(l.Context)...)
		b = append(b, "\r\n"...)
	}
	return b
}

// appendField appends a field of application/warc-fields, unless its value is empty.
func appendField(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return append(append(append(append(b, name...), ": "...), value...), "\r\n"...)
}

// appendFields appends lines of application/warc-fields; empty values are left out, line breaks folded.
func appendFields(b []byte, list [][2]string) []byte {
	for _, f := range list {
		b = appendField(b, f[0], oneLine(f[1]))
	}
	return b
}

func oneLine(s string) string {
	if strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// object is a web object as JSON, with long properties cut off: the whole text is in the response.
func object(o *crawl.Object) string {
	short := crawl.Object{Type: o.Type, Rule: o.Rule, Confidence: o.Confidence}
	for _, p := range o.Properties.Without("html") { // the response record has it
		if len(p.Value) > crawl.MaxExcerpt {
			p.Value = strings.ToValidUTF8(p.Value[:crawl.MaxExcerpt], "") + "…"
		}
		short.Properties = append(short.Properties, p)
	}
	raw, err := json.Marshal(short)
	if err != nil {
		return ""
	}
	return string(raw)
}

// appendHeader appends the lines of a header block as fields, for a revisit without a block. They are of any length: FETCH bounds the block as a whole.
func appendHeader(b []byte, header io.Reader) []byte {
	for lines := bufio.NewReader(header); ; {
		line, err := lines.ReadString('\n')
		b = appendField(b, "http-response-header", oneLine(strings.TrimSpace(line)))
		if err != nil { // what was read before is kept
			return b
		}
	}
}
