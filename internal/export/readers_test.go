package export_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/export"
)

// TestReaders: the readers of others read exports, and find what their index says. warcio.js reads each record to its end, in the WARC and in the WACZ file, with the block digest
// that it names; where it finds records, their bytes have the SHA-256 of the record with this ID in the archive. js-wacz makes an index of the WARC files that has each line of
// ours, and takes our list of pages. MUNINN_READERS names the folder of both, MUNINN_READERS_ARCHIVE an archive that is exported beside that of the tests.
func TestReaders(t *testing.T) {
	tools := os.Getenv("MUNINN_READERS")
	if tools == "" {
		t.Skip("MUNINN_READERS names no folder with warcio.js and js-wacz: `make test-readers` fetches them")
	}
	made := t.TempDir()
	world(t, openDir(t, made))
	archives := []string{made}
	if dir := os.Getenv("MUNINN_READERS_ARCHIVE"); dir != "" {
		archives = append(archives, dir)
	}
	for _, dir := range archives {
		for _, format := range []export.Format{export.WARC, export.WACZ} {
			t.Run(filepath.Base(dir)+" as "+string(format), func(t *testing.T) { (&reading{t: t, tools: tools, source: dir}).export(format) })
		}
	}
}

// reading reads an export of an archive by the tools of others.
type reading struct {
	t             *testing.T
	tools, source string
}

// read is a record, as warcio.js reads it.
type read struct {
	File, Type, ID, URL, Block string
	Offset, Length, Payload    int64
	Status                     int
}

func (r *reading) export(format export.Format) {
	t := r.t
	from, dir := openDir(t, r.source), t.TempDir()
	crawls, err := archive.Crawls(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	result, err := export.Run(t.Context(), from, openDir(t, dir), export.Order{Name: "x", Format: format, Size: 200_000, Crawls: crawls, Software: "Muninn test"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var ours []indexLine
	if format == export.WACZ {
		ours = r.unpack(dir)
	} else {
		ours = r.cdxj(dir)
	}
	exported := r.warcio(glob(t, filepath.Join(dir, "*.warc.gz")))
	sums := r.sums(r.warcio(glob(t, filepath.Join(r.source, "*", "data", "*.warc.gz"))))
	types, own, alike, at := map[string]int{}, 0, 0, map[place]read{}
	for _, e := range exported {
		types[e.Type]++
		at[place{filepath.Base(e.File), e.Offset}] = e
		if e.Block != "right" {
			t.Errorf("%s at %d: the block digest of %s is %s", e.File, e.Offset, e.URL, e.Block)
		}
	}
	for id, sum := range r.sums(exported) {
		switch want, is := sums[id]; {
		case !is: // the warcinfo record of a part
			own++
		case sum == want:
			alike++
		default:
			t.Errorf("%s has the SHA-256 %s, its source %s", id, sum, want)
		}
	}
	if own != result.Parts || len(exported) != result.Records+own || alike != result.Records {
		t.Errorf("warcio.js reads %d records, of which %d are of the parts' own and %d have the SHA-256 of their source; the export says %d in %d parts", len(exported), own, alike, result.Records, result.Parts)
	}
	captures := types["response"] + types["revisit"]
	for _, l := range ours {
		if e := at[place{l.Filename, l.offset}]; e.URL != l.URL || e.Length != l.length || e.Type != "response" && e.Type != "revisit" {
			t.Errorf("the index says that %s is at %d with %d bytes: warcio.js finds %+v", l.URL, l.offset, l.length, e)
		}
	}
	if len(ours) != result.Captures || len(ours) != captures {
		t.Errorf("the index has %d lines, the export says %d captures, and warcio.js reads %d", len(ours), result.Captures, captures)
	}
	theirs := r.jsWACZ(dir, format)
	for _, l := range ours {
		if !slices.Contains(theirs, l) {
			t.Errorf("js-wacz does not have the line %+v", l)
		}
	}
	t.Logf("%d parts: warcio.js reads %d records (%v), of which %d have the SHA-256 of their source; %d lines in the index, and %d in that of js-wacz", result.Parts, len(exported), types, alike, len(ours), len(theirs))
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files, %v", pattern, err)
	}
	return files
}

// warcio reads files by warcio.js. Records lie one behind the other, up to the end.
func (r *reading) warcio(files []string) (list []read) {
	r.t.Helper()
	out := r.node(append([]string{"read.mjs"}, files...)...)
	ends := map[string]int64{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var one read
		if err := d.Decode(&one); err == io.EOF {
			break
		} else if err != nil {
			r.t.Fatal(err)
		}
		if one.Offset != ends[one.File] {
			r.t.Errorf("%s: a record ends at %d, and the next one begins at %d", one.File, ends[one.File], one.Offset)
		}
		ends[one.File] = one.Offset + one.Length
		list = append(list, one)
	}
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || info.Size() != ends[name] {
			r.t.Errorf("warcio.js reads %s to %d: %v", name, ends[name], err)
		}
	}
	return list
}

// node runs a script in the folder of the tools.
func (r *reading) node(args ...string) []byte {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "node", args...)
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = r.tools, &said
	out, err := cmd.Output()
	if err != nil || said.Len() > 0 {
		r.t.Fatalf("node %.200q: %v: %s", args, err, said.String())
	}
	return out
}

// sums are the SHA-256 sums of compressed records, by ID.
func (r *reading) sums(list []read) map[string]string {
	r.t.Helper()
	sums, name, whole := map[string]string{}, "", []byte(nil)
	for _, one := range list {
		if one.File != name {
			var err error
			if whole, err = os.ReadFile(one.File); err != nil {
				r.t.Fatal(err)
			}
			name = one.File
		}
		if sums[one.ID] != "" {
			r.t.Errorf("two records have the ID %s", one.ID)
		}
		sums[one.ID] = sum(whole[one.Offset : one.Offset+one.Length])
	}
	return sums
}

type place struct {
	file   string
	offset int64
}

// indexLine is what ours and theirs have in common.
type indexLine struct {
	Key, Time                           string
	URL, MIME, Status, Digest, Filename string
	offset, length                      int64
}

func (r *reading) line(text string) (l indexLine) {
	r.t.Helper()
	key, rest, _ := strings.Cut(text, " ")
	at, raw, _ := strings.Cut(rest, " ")
	var places struct{ Offset, Length json.Number }
	for _, into := range []any{&l, &places} {
		if err := json.Unmarshal([]byte(raw), into); err != nil {
			r.t.Fatalf("%q: %v", text, err)
		}
	}
	key = strings.TrimSuffix(key, "/") // theirs keep it, ours has it of the root alone, as those of pywb
	l.Key, l.Time, l.Filename, l.Digest = key, at, filepath.Base(l.Filename), strings.TrimPrefix(l.Digest, "sha1:")
	l.offset, _ = places.Offset.Int64()
	l.length, _ = places.Length.Int64()
	return l
}

func (r *reading) lines(text []byte) (list []indexLine) {
	r.t.Helper()
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		list = append(list, r.line(s.Text()))
	}
	return list
}

// cdxj is the index beside WARC files.
func (r *reading) cdxj(dir string) (list []indexLine) {
	r.t.Helper()
	for _, name := range glob(r.t, filepath.Join(dir, "*.cdxj")) {
		text, err := os.ReadFile(name)
		if err != nil {
			r.t.Fatal(err)
		}
		list = append(list, r.lines(text)...)
	}
	return list
}

// unpack writes the WARC files and the lists of pages of WACZ files beside them; it returns their index.
func (r *reading) unpack(dir string) (list []indexLine) {
	r.t.Helper()
	for _, name := range glob(r.t, filepath.Join(dir, "*.wacz")) {
		for path, data := range r.inside(name) {
			switch {
			case strings.HasSuffix(path, ".warc.gz"):
				r.write(filepath.Join(dir, filepath.Base(path)), data)
			case strings.HasSuffix(path, ".jsonl"):
				r.write(filepath.Join(dir, "pages", filepath.Base(name)+"-"+filepath.Base(path)), data)
			case strings.HasPrefix(path, "indexes/") && !strings.HasSuffix(path, ".idx"):
				list = append(list, r.lines(r.plain(data))...)
			}
		}
	}
	return list
}

func (r *reading) write(name string, data []byte) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// plain is an index without its compression.
func (r *reading) plain(data []byte) []byte {
	r.t.Helper()
	if !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return data
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		data, err = io.ReadAll(z)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return data
}

// inside is the files of a ZIP file.
func (r *reading) inside(name string) map[string][]byte {
	r.t.Helper()
	z, err := zip.OpenReader(name)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	files := map[string][]byte{}
	for _, f := range z.File {
		in, err := f.Open()
		if err == nil {
			files[f.Name], err = io.ReadAll(in)
		}
		if err != nil {
			r.t.Fatalf("%s: %v", f.Name, err)
		}
	}
	return files
}

// jsWACZ has js-wacz make a WACZ file of the WARC files, with the list of pages of a WACZ file. It returns the index of that file, each line once.
func (r *reading) jsWACZ(dir string, format export.Format) (list []indexLine) {
	r.t.Helper()
	made := filepath.Join(dir, "js-wacz.wacz")
	args := []string{"node_modules/.bin/js-wacz", "create", "--file", filepath.Join(dir, "*.warc.gz"), "--output", made, "--log-level", "warn"}
	pages := filepath.Join(dir, "pages")
	if format == export.WACZ {
		args = append(args, "--pages", pages)
	}
	if said := r.node(args...); len(said) > 0 {
		r.t.Errorf("js-wacz says %s", said)
	}
	found, taken := map[indexLine]bool{}, 0
	for path, data := range r.inside(made) {
		switch {
		case strings.HasPrefix(path, "indexes/") && !strings.HasSuffix(path, ".idx"):
			for _, l := range r.lines(r.plain(data)) { // it writes some twice, at the edges of blocks
				if !found[l] {
					found[l] = true
					list = append(list, l)
				}
			}
		case format == export.WACZ && strings.HasPrefix(path, "pages/"):
			taken++
			if want, err := os.ReadFile(filepath.Join(pages, filepath.Base(path))); err != nil || !bytes.Equal(want, data) {
				r.t.Errorf("js-wacz takes other pages for %s: %v", path, err)
			}
		}
	}
	if format == export.WACZ {
		if all := glob(r.t, filepath.Join(pages, "*")); taken != len(all) {
			r.t.Errorf("js-wacz takes %d of %d lists of pages", taken, len(all))
		}
	}
	return list
}
