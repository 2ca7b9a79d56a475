package export

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// warcinfo is the warcinfo record of a part, as a gzip member. Its ID is made of the part's hash: the same part has the same record.
func (p *Part) warcinfo() ([]byte, error) {
	var crawls []string
	for _, s := range p.Sources {
		if !slices.Contains(crawls, s.Crawl.Name) {
			crawls = append(crawls, s.Crawl.Name)
		}
	}
	slices.Sort(crawls)
	block := fmt.Sprintf("software: %s\r\nformat: WARC File Format 1.1\r\n"+
		"conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n"+
		"isPartOf: %s\r\ndescription: part %d of an export of %s; records are copied as they are, and WARC-Warcinfo-ID names the warcinfo record of the file that each comes from\r\n"+
		"muninn-plan: sha256:%s\r\n", oneLine(p.Of.Software), p.Of.Name, p.Number, strings.Join(crawls, ", "), p.hash)
	sum := sha1.Sum([]byte(block))
	record := fmt.Sprintf("WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:uuid:%s>\r\nWARC-Date: %s\r\nWARC-Filename: %s\r\n"+
		"WARC-Block-Digest: sha1:%s\r\nContent-Type: application/warc-fields\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		uuidOf(p.hash), p.Date.UTC().Format(time.RFC3339), p.Key(suffixWARC), base32.StdEncoding.EncodeToString(sum[:]), len(block), block)
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write([]byte(record)); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// uuidOf is a UUID of version 8 (RFC 9562 §5.8) out of a hash in hexadecimal digits.
func uuidOf(hash string) string {
	return fmt.Sprintf("%s-%s-8%s-8%s-%s", hash[:8], hash[8:12], hash[13:16], hash[17:20], hash[20:32])
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
