package page

import (
	"bytes"
	"io"

	"github.com/muninn-archive/muninn/internal/coding"
)

// unpacked is the sitemap or feed that a gzip file holds, with its type; nil if it holds something else. Of another file its first bytes
// are decoded, and no more. What breaks off gives what stood before.
func unpacked(body []byte, limit int64) (text []byte, kind string) {
	if coding.Field(body[:min(len(body), 16)]) != "gzip" {
		return nil, ""
	}
	r, err := coding.NewReader(bytes.NewReader(body), "gzip")
	if err != nil {
		return nil, ""
	}
	defer func() { _ = r.Close() }()
	head, _ := io.ReadAll(io.LimitReader(r, min(limit, maxProlog)))
	switch {
	case isSitemapOrFeed(head):
		kind = "text/xml"
	case isURLList(head[:max(bytes.LastIndexByte(head, '\n'), 0)]) || len(head) < maxProlog && isURLList(head):
		kind = "text/plain"
	default:
		return nil, ""
	}
	rest, _ := io.ReadAll(io.LimitReader(r, limit-int64(len(head))))
	return append(head, rest...), kind
}

// isPacked reports whether a type may be that of a gzip file.
func isPacked(kind string) bool {
	switch kind {
	case "application/gzip", "application/x-gzip", "application/octet-stream", "text/xml", "application/xml", "text/plain":
		return true
	}
	return false
}
