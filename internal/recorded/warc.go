package recorded

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/muninn-archive/muninn/internal/archive"
)

// maxBody bounds the bodies of pages, in bytes; more is cut off.
const maxBody = 4 << 20

// warcs reads the responses of WARC files: the first of each URL. Bodies are kept of what links can be found in.
func warcs(where string, folder bool) (*Web, error) {
	w := New(filepath.Base(where))
	home := where
	var err error
	switch {
	case folder:
		var files []string
		if files, err = find(where); err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s holds neither pages.tsv nor WARC files (.warc, .warc.gz)", where)
		}
		for _, file := range files {
			if err = w.file(file); err != nil {
				return nil, err
			}
		}
	case strings.HasSuffix(where, ".cdxj"):
		home = filepath.Dir(where)
		err = w.cdxj(where)
	case isWARC(where):
		home = filepath.Dir(where)
		err = w.file(where)
	default:
		err = fmt.Errorf("%s is not a recorded web: its name ends neither in .warc, .warc.gz nor .cdxj", where)
	}
	if err != nil {
		return nil, err
	}
	if len(w.Pages) == 0 {
		return nil, fmt.Errorf("%s holds no response", where)
	}
	if err := w.labels(filepath.Join(home, "labels.tsv")); err != nil {
		return nil, err
	}
	for i := range w.Pages {
		_, rest, _ := strings.Cut(w.Pages[i].URL, "://")
		w.Pages[i].Group, _, _ = strings.Cut(rest, "/")
	}
	w.topics()
	return w, w.seeds(home)
}

func isWARC(name string) bool {
	return strings.HasSuffix(name, ".warc") || strings.HasSuffix(name, ".warc.gz")
}

// find lists the WARC files of a folder and those in it.
func find(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && isWARC(path) {
			files = append(files, path)
		}
		return err
	})
	slices.Sort(files)
	return files, err
}

// file reads all responses of a file; of one that is cut off, as a crawler leaves it that was killed, what is there.
func (w *Web) file(name string) error {
	err := archive.ReadWARC(name, 0, func(rec archive.Captured) (bool, error) {
		w.record(rec)
		return true, nil
	})
	if errors.Is(err, archive.ErrCutOff) {
		return nil
	}
	return err
}

// record takes in a response.
func (w *Web) record(rec archive.Captured) {
	url, ok := Canonical(rec.URL)
	if !ok || rec.Kind != "response" || strings.HasSuffix(url, "/robots.txt") {
		return
	}
	if _, known := w.At(url); known {
		return
	}
	answer, err := http.ReadResponse(bufio.NewReader(rec.Block), nil)
	if err != nil {
		return // what is no HTTP has no links
	}
	defer func() { _ = answer.Body.Close() }()
	p, ok := NewPage(url, answer.StatusCode, answer.Header, nil)
	if !ok {
		return
	}
	if p.MIME == "" || strings.HasPrefix(p.MIME, "text/") || strings.HasSuffix(p.MIME, "xml") {
		p.Body = body(answer)
	}
	w.Add(p)
}

// body is without its encodings; what breaks off gives what stood before, an unknown encoding nothing.
func body(answer *http.Response) []byte {
	var r io.Reader = answer.Body
	switch strings.ToLower(answer.Header.Get("Content-Encoding")) {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(answer.Body)
		if err != nil {
			return nil
		}
		r = z
	case "deflate":
		packed := bufio.NewReader(answer.Body) // with a zlib header (RFC 9110), which some leave out
		r = flate.NewReader(packed)
		if head, err := packed.Peek(2); err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			if z, err := zlib.NewReader(packed); err == nil {
				r = z
			}
		}
	default:
		return nil
	}
	var out bytes.Buffer
	_, _ = io.Copy(&out, io.LimitReader(r, maxBody))
	return out.Bytes()
}

// cdxj reads the captures that an index names.
func (w *Web) cdxj(name string) error {
	whole, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	at := map[string]string{}
	look := func(dir string) {
		files, _ := find(dir) // what cannot be read does not hold them
		for _, file := range files {
			if at[filepath.Base(file)] == "" {
				at[filepath.Base(file)] = file
			}
		}
	}
	look(filepath.Dir(whole))
	beside := filepath.Dir(filepath.Dir(whole))
	return eachLine(name, func(n int, line string) error {
		begin := strings.IndexByte(line, '{')
		if begin < 0 {
			return nil // a header line
		}
		var capture struct{ Filename, Offset string }
		if err := json.Unmarshal([]byte(line[begin:]), &capture); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
		file, known := at[filepath.Base(capture.Filename)]
		if !known && beside != "" {
			look(beside)
			beside = ""
			file, known = at[filepath.Base(capture.Filename)]
		}
		if !known {
			return fmt.Errorf("%s:%d: %s is neither beside the index nor in a folder beside it", name, n, capture.Filename)
		}
		offset, err := strconv.ParseInt(capture.Offset, 10, 64)
		if err != nil {
			return fmt.Errorf("%s:%d: the offset %q is not a number", name, n, capture.Offset)
		}
		return archive.ReadWARC(file, offset, func(rec archive.Captured) (bool, error) {
			w.record(rec)
			return false, nil
		})
	})
}

// labels reads what pages are, if anybody said.
func (w *Web) labels(name string) error {
	err := eachLine(name, func(n int, line string) error {
		raw, label, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if raw == "" {
			return nil
		}
		if !ok {
			return fmt.Errorf("%s:%d: a line must have url and label, separated by a tab", name, n)
		}
		if url, is := Canonical(raw); is {
			if at, known := w.At(url); known {
				w.Pages[at].Label = label
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
