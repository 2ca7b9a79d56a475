package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/page"
)

// document writes a PDF file of some objects, the first of which is its catalogue.
func document(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, len(objects), start)
	return b.Bytes()
}

func stream(dictionary, data string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dictionary, len(data), data)
}

// packed is a stream that is compressed.
func packed(dictionary, data string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write([]byte(data))
	_ = z.Close()
	return stream(dictionary+"/Filter/FlateDecode", b.String())
}

const (
	catalogue = "<</Type/Catalog/Pages 2 0 R>>"
	onePage   = "<</Type/Pages/Kids[3 0 R]/Count 1>>"
	pageOf    = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>/Annots[6 0 R]>>"
	font      = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
	click     = "<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(http://a.test/click)>>>>"
	info      = "<</Title(On ravens)>>"
	words     = "BT /F 12 Tf 50 700 Td (The raven flew. ) Tj 0 -20 Td (See http://b.test/text for more.) Tj ET"
)

// paper shows what was read: title, texts, links.
func paper(p page.Paper) string {
	out := p.Title
	for _, t := range p.Pages {
		out += "|" + strings.Join(strings.Fields(t), " ")
	}
	for _, l := range p.Links {
		out += fmt.Sprintf("\n%d %s", l.Page, l.URL)
		if l.Annotation {
			out += " annotation"
		}
	}
	return out
}

// shared is the reader of all tests: to compile PDFium takes seconds.
var shared = sync.OnceValue(func() *Reader { return New(Limits{Time: 20 * time.Second, Memory: 64 << 20}) })

// TestRead: each file costs its own text at most, and the reader reads the next one.
func TestRead(t *testing.T) {
	const all = "On ravens|The raven flew. See http://b.test/text for more.\n0 http://a.test/click annotation\n0 http://b.test/text"
	sound := document(catalogue, onePage, pageOf, packed("", words), font, click, info)
	r := shared()
	short := New(Limits{Time: 30 * time.Millisecond, Memory: 64 << 20})
	short.pool = r.pool
	many := "q " + strings.Repeat("BT /F 12 Tf 5 7 Td (raven) Tj ET ", 3000)
	for _, test := range []struct {
		name string
		r    *Reader
		file []byte
		want string
		err  string
	}{
		{"sound", r, sound, all, ""},
		{"table of objects elsewhere", r, bytes.Replace(sound, []byte("startxref\n"), []byte("startxref\n9"), 1), all, ""},
		{"behind other bytes", r, append([]byte("\r\n\r\n"), sound...), all, ""},
		{"cut in the middle", r, sound[:200], "", "format"},
		{"nothing", r, nil, "", "format"},
		{"no PDF", r, []byte("%PDF-1.4 and no more"), "", "format"},
		{"pages that are their own parents", r, document(catalogue, "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 9>>", info), "On ravens", "page 1 of a PDF file: 6: incorrect page"},
		{"a million pages of none", r, document(catalogue, "<</Type/Pages/Kids[]/Count 1000000>>", info), "On ravens", "page 1"},
		{"form that draws itself", r, document(catalogue, onePage,
			"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>", stream("", "/X Do"),
			stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>", "/X Do /X Do"), info), "On ravens", "page 1 of a PDF file: wasm error"},
		{"bomb", r, document(catalogue, onePage, pageOf, packed("", strings.Repeat(" ", 100<<20)+words), font, click, info), "On ravens", "page 1 of a PDF file: wasm error"},
		{"too slow", short, document(catalogue, onePage, pageOf, packed("", strings.Repeat(many, 50)), font, click, info), "", "stopped after 30ms"},
		{"after all of these", r, sound, all, ""},
	} {
		start := time.Now()
		got, err := test.r.Read(context.Background(), test.file, 1<<20)
		t.Logf("%s: %s, %v, %.80q", test.name, time.Since(start), err, paper(got))
		if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.err)
		}
		if p := paper(got); test.want != "" && p != test.want {
			t.Errorf("%s: %q, want %q", test.name, p, test.want)
		}
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := r.Read(ended, sound, 1<<20); err == nil {
		t.Error("a step that has ended reads a file")
	}
	if p, err := (*Reader)(nil).Read(context.Background(), sound, 1<<20); err != nil || len(p.Pages) > 0 {
		t.Errorf("no reader: %v, %v", p, err)
	}
	if p, err := r.Read(context.Background(), sound, 9); err != nil || !slices.Equal(p.Pages, []string{"The raven"}) {
		t.Errorf("9 bytes of text: %q, %v", p.Pages, err)
	}
}

// FuzzRead: whatever a file says, the reader ends, and reads the next one.
func FuzzRead(f *testing.F) {
	sound := document(catalogue, onePage, pageOf, stream("", words), font, click, info)
	f.Add(sound, 100, []byte("<<"))
	f.Add(sound, 300, []byte("9999999999"))
	r := shared()
	f.Fuzz(func(t *testing.T, file []byte, at int, with []byte) {
		if at = max(at, 0); at < len(file) {
			file = slices.Concat(file[:at], with, file[min(at+len(with), len(file)):])
		}
		p, err := r.Read(context.Background(), file, 1000)
		if len(strings.Join(p.Pages, "")) > 1000 || len(p.Links) > maxLinks {
			t.Errorf("%d pages, %d links", len(p.Pages), len(p.Links))
		}
		if err != nil && strings.Contains(err.Error(), "stopped") {
			t.Error(err)
		}
		if p, err := r.Read(context.Background(), sound, 1000); err != nil || len(p.Pages) != 1 {
			t.Errorf("after it: %+v, %v", p, err)
		}
	})
}

// TestFiles reads the files of a folder, to compare readers and to measure.
func TestFiles(t *testing.T) {
	dir := os.Getenv("MUNINN_PDFS")
	if dir == "" {
		t.Skip("MUNINN_PDFS is not set: no folder of PDF files")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	r := New(DefaultLimits())
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		p, err := r.Read(context.Background(), data, 1<<20)
		text := strings.Join(p.Pages, "\n")
		t.Logf("%s: %d bytes, %d pages, %d bytes of text, %d links, %s, %v", filepath.Base(name), len(data), len(p.Pages), len(text), len(p.Links), time.Since(start).Round(time.Millisecond), err)
	}
}
