package archivecheck

import (
	"encoding/json"
	"io"
	"slices"
	"time"
)

// logKinds are the kinds of lines of the crawl log.
var logKinds = []string{"done", "unmodified", "robots", "refused", "retry", "failed", "returned", "robots.txt", "dns", "loaded", "opened"}

// readLog checks a crawl log: each line has a time, a URL and a kind; a URL that ended without a response has a
// reason; each HTTP capture of the segment has a line with its status.
func (c *checker) readLog(key string, r io.Reader, warc *warcFile) error {
	statuses := map[string][]int{} // URL → status of its lines
	err := c.eachLine(key, r, func(line []byte, offset int64) {
		var l struct {
			Time, URL, Kind, Reason string
			Status                  int
		}
		if err := json.Unmarshal(line, &l); err != nil {
			c.fault(key, offset, "the line is not of the expected shape: %v", err)
			return
		}
		c.report.Logged++
		statuses[l.URL] = append(statuses[l.URL], l.Status)
		if _, err := time.Parse(time.RFC3339, l.Time); err != nil {
			c.fault(key, offset, "time %q is not RFC 3339", l.Time)
		}
		if l.URL == "" || !slices.Contains(logKinds, l.Kind) {
			c.fault(key, offset, "the line is of URL %q and kind %q", l.URL, l.Kind)
		}
		if l.Reason == "" && slices.Contains([]string{"failed", "refused", "retry"}, l.Kind) {
			c.fault(key, offset, "the line says %q of %s, but not why", l.Kind, l.URL)
		}
	})
	if err != nil || warc == nil {
		return err
	}
	for _, e := range warc.entries {
		if !e.isCapture() || !e.isHTTP() {
			continue
		}
		status := e.status
		if e.typ == "revisit" && status == 0 {
			status = 304 // a revisit without a header block
		}
		if !slices.Contains(statuses[e.uri], status) {
			warc.fault(e.offset, "the crawl log has no line of %s with status %d, but %v", e.uri, status, statuses[e.uri])
		}
	}
	return nil
}
