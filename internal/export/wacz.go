package export

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/muninn-archive/muninn/internal/archive"
)

// waczVersion is the version of the WACZ format that is written (https://specs.webrecorder.net/wacz/1.1.1/).
const waczVersion = "1.1.1"

// The lines of the index that are compressed together (ZipNum): so many as cdxj-indexer takes, and more where a block cannot end there.
const (
	zipNumLines    = 1024
	maxZipNumLines = 8 * zipNumLines
)

// waczResource is a line of datapackage.json.
type waczResource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// waczPackage is datapackage.json.
type waczPackage struct {
	Profile     string         `json:"profile"`
	WACZVersion string         `json:"wacz_version"`
	Title       string         `json:"title"`
	Software    string         `json:"software"`
	Created     string         `json:"created"`
	Resources   []waczResource `json:"resources"`
}

// waczWriter writes the files of a WACZ. All are stored, so that a reader takes ranges of them.
type waczWriter struct {
	zip       *zip.Writer
	date      time.Time
	resources []waczResource
}

// writeWACZ writes a part as a WACZ.
func (p *Part) writeWACZ(ctx context.Context, from, to archive.Store, w *Written) error {
	info, err := p.warcinfo()
	if err != nil {
		return err
	}
	lines, err := p.cdxj(int64(len(info)))
	if err != nil {
		return err
	}
	stored, err := put(ctx, to, p.Key(suffixWACZ), archive.UnknownSize, func(ctx context.Context, out io.Writer) error {
		z := &waczWriter{zip: zip.NewWriter(out), date: p.Date.UTC()}
		err := z.add("archive/"+p.Key(suffixWARC), func(out io.Writer) error {
			if _, err := out.Write(info); err != nil {
				return err
			}
			return p.copyRecords(ctx, from, out)
		})
		if err != nil {
			return err
		}
		if err := z.index(lines); err != nil {
			return err
		}
		err = z.add("pages/pages.jsonl", func(out io.Writer) (err error) {
			w.Pages, err = p.writePages(ctx, from, out)
			return err
		})
		if err != nil {
			return err
		}
		return z.describe(p)
	})
	w.Files = []archive.Stored{stored}
	return err
}

// index writes the index, behind the WARC file.
func (z *waczWriter) index(lines []string) error {
	blocks, secondary, err := zipNum(lines)
	if err != nil {
		return err
	}
	if err := z.add("indexes/index.cdx.gz", whole(blocks)); err != nil {
		return err
	}
	return z.add("indexes/index.idx", whole(secondary))
}

// describe writes what describes the other files, and ends the file.
func (z *waczWriter) describe(p *Part) error {
	description, err := json.MarshalIndent(waczPackage{
		Profile: "data-package", WACZVersion: waczVersion, Title: fmt.Sprintf("%s, part %d", p.Of.Name, p.Number), Software: oneLine(p.Of.Software),
		Created: z.date.Format(time.RFC3339), Resources: z.resources,
	}, "", "  ")
	if err != nil {
		return err
	}
	digest, err := json.MarshalIndent(map[string]string{"path": "datapackage.json", "hash": "sha256:" + hashOf(description)}, "", "  ")
	if err != nil {
		return err
	}
	if err := z.add("datapackage.json", whole(description)); err != nil {
		return err
	}
	if err := z.add("datapackage-digest.json", whole(digest)); err != nil {
		return err
	}
	return z.zip.Close()
}

func whole(data []byte) func(io.Writer) error {
	return func(out io.Writer) error {
		_, err := out.Write(data)
		return err
	}
}

// add writes a file.
func (z *waczWriter) add(name string, write func(io.Writer) error) error {
	out, err := z.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store, Modified: z.date})
	if err != nil {
		return err
	}
	sum := &summingWriter{out: out, sum: sha256.New()}
	if err := write(sum); err != nil {
		return err
	}
	z.resources = append(z.resources, waczResource{path.Base(name), name, "sha256:" + hex.EncodeToString(sum.sum.Sum(nil)), sum.n})
	return nil
}

type summingWriter struct {
	out io.Writer
	sum hash.Hash
	n   int64
}

func (s *summingWriter) Write(p []byte) (int, error) {
	n, err := s.out.Write(p)
	_, _ = s.sum.Write(p[:n])
	s.n += int64(n)
	return n, err
}

// zipNumEnds is where the blocks of an index end. ReplayWeb.page looks for a URL that ends with a slash by a key that does so, too, which ours does not (as
// pywb's): it reads the last block that begins before that key. So no block begins between a key and that key with a slash, unless the one before would be too large.
func zipNumEnds(lines []string) (ends []int) {
	first, slash := 0, "" // the last key so far with a slash
	for n, line := range lines {
		if many := n - first; many >= maxZipNumLines || many >= zipNumLines && line >= slash {
			ends, first = append(ends, n), n
		}
		key, _, _ := strings.Cut(line, " ")
		slash = max(slash, key+"/")
	}
	return append(ends, len(lines))
}

// zipNum compresses an index in blocks, and makes the index of these: a line each, with the key and the time of its first line.
func zipNum(lines []string) (blocks, secondary []byte, err error) {
	var out, index bytes.Buffer
	index.WriteString(`!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}` + "\n")
	zip := gzip.NewWriter(&out)
	first := 0
	for _, end := range zipNumEnds(lines) {
		begin := out.Len()
		zip.Reset(&out)
		for _, line := range lines[first:end] {
			if _, err := zip.Write([]byte(line)); err != nil {
				return nil, nil, err
			}
		}
		if err := zip.Close(); err != nil {
			return nil, nil, err
		}
		key, rest, _ := strings.Cut(lines[first], " ")
		stamp, _, _ := strings.Cut(rest, " ")
		fmt.Fprintf(&index, "%s %s {\"offset\": %d, \"length\": %d, \"digest\": \"sha256:%s\", \"filename\": \"index.cdx.gz\"}\n",
			key, stamp, begin, out.Len()-begin, hashOf(out.Bytes()[begin:]))
		first = end
	}
	return out.Bytes(), index.Bytes(), nil
}
