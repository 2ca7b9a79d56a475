package archive

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// metadata is the block of a metadata record: via, hop path, fetch time, scores, findings of the helper, and the
// outlinks (WARC/1.1 §6.5 and Heritrix's "outlink: URL letter context").
func metadata(c Capture) io.Reader {
	list := [][2]string{
		{"via", c.Via}, {"hopsFromSeed", strings.TrimPrefix(c.Path, crawl.HopSeed.String())},
		{"fetchTimeMs", fmt.Sprint(c.Elapsed.Milliseconds())},
	}
	if c.Fault != "" {
		list = append(list, [2]string{"muninn-http-fault", c.Fault})
	}
	if c.Outcome.Kind == crawl.OutcomeRetry {
		list = append(list, [2]string{"muninn-outcome", c.Outcome.Kind + ": " + c.Outcome.Reason})
	}
	if c.Outcome.Kind == crawl.OutcomeUnmodified {
		list = append(list, headerFields(c.Header())...)
	}
	p := c.Page
	if p == nil {
		return fields(list)
	}
	if score := p.Verdict.Score; score >= 0 {
		list = append(list, [2]string{"muninn-score", fmt.Sprintf("%.4f", score)})
	}
	list = append(list, [2]string{"title", p.Title}, [2]string{"language", p.Language}, [2]string{"charset", p.Charset},
		[2]string{"muninn-application", p.Application}, [2]string{"muninn-version", p.Version}, [2]string{"muninn-level", p.Level},
		[2]string{"muninn-rule", strings.TrimSpace(p.Rule + " " + p.LevelRule)})
	if p.Application != "" {
		list = append(list, [2]string{"muninn-confidence", fmt.Sprintf("%.2f", p.Confidence)}, [2]string{"muninn-kb", p.Base})
	}
	for _, o := range p.Objects {
		list = append(list, [2]string{"muninn-object", object(o)})
	}
	for _, l := range p.Links {
		list = append(list, [2]string{"outlink", l.URL + " " + l.Hop.String() + " " + l.Context})
	}
	return fields(list)
}

// fields makes an application/warc-fields block; empty values are left out, line breaks folded.
func fields(list [][2]string) io.Reader {
	var b strings.Builder
	for _, f := range list {
		if f[1] != "" {
			b.WriteString(f[0])
			b.WriteString(": ")
			b.WriteString(oneLine(f[1]))
			b.WriteString("\r\n")
		}
	}
	return strings.NewReader(b.String())
}

func oneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// maxProperty bounds the properties of web objects in metadata records, in bytes: the whole text is in
// the response.
const maxProperty = 512

// object is a web object as JSON, with long properties cut off.
func object(o crawl.Object) string {
	short := crawl.Object{Type: o.Type, Rule: o.Rule, Confidence: o.Confidence}
	for _, p := range o.Properties.Without("html") { // the response record has it
		if len(p.Value) > maxProperty {
			p.Value = strings.ToValidUTF8(p.Value[:maxProperty], "") + "…"
		}
		short.Properties = append(short.Properties, p)
	}
	raw, err := json.Marshal(short)
	if err != nil {
		return ""
	}
	return string(raw)
}

// headerFields are the lines of a header block as fields, for a revisit without a block.
func headerFields(header io.Reader) [][2]string {
	var list [][2]string
	for lines := bufio.NewScanner(header); lines.Scan(); {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			list = append(list, [2]string{"http-response-header", text})
		}
	}
	return list
}
