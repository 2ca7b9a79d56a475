package page

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// zipped is a ZIP file of parts: names and contents alternately.
func zipped(t testing.TB, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		method := zip.Deflate
		if parts[i] == "mimetype" {
			method = zip.Store
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: parts[i], Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(parts[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const (
	docx          = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	openXML       = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	relationships = `<Relationships><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" Target="http://a.test/1" TargetMode="External"/>` +
		`<Relationship Id="r2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="http://a.test/i.png" TargetMode="External"/>` +
		`<Relationship Id="r3" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" Target="other.docx" TargetMode="External"/></Relationships>`
	core = `<cp:coreProperties xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>On
ravens</dc:title></cp:coreProperties>`
)

func TestOffice(t *testing.T) {
	paragraph := `<w:document ` + openXML + `><w:body><w:p><w:r><w:t>See </w:t></w:r><w:hyperlink r:id="r1"><w:r><w:t>the</w:t><w:tab/><w:t>ravens</w:t></w:r></w:hyperlink><w:r><w:t>.</w:t></w:r></w:p>` +
		`<w:p><w:del><w:delText>gone</w:delText></w:del><w:r><w:instrText> HYPERLINK "http://a.test/2" </w:instrText></w:r><w:r><w:t>Field</w:t></w:r><w:hyperlink r:id="r3"><w:r><w:t> beside</w:t></w:r></w:hyperlink></w:p></w:body></w:document>`
	word := zipped(t, "word/document.xml", paragraph, "word/_rels/document.xml.rels", relationships, "docProps/core.xml", core, "word/footnotes.xml", `<w:footnotes `+openXML+`><w:p><w:t>Note</w:t></w:p></w:footnotes>`)
	slide := func(n int) string {
		return fmt.Sprintf(`<p:sld %s xmlns:p="p"><a:p><a:r><a:rPr><a:hlinkClick r:id="r1"/></a:rPr><a:t>Slide %d</a:t></a:r></a:p></p:sld>`, openXML, n)
	}
	for _, test := range []struct{ name, mime, body, want, blocks, title, fault string }{
		{"docx", docx, word, "L /1|the ravens|See the ravens.\nL /2||Field beside", "See the ravens./Field beside/Note", "On ravens", ""},
		{"docx without a type", "application/octet-stream", word, "L /1|the ravens|See the ravens.\nL /2||Field beside", "See the ravens./Field beside/Note", "On ravens", ""},
		{"docx as ZIP", "application/zip", word, "L /1|the ravens|See the ravens.\nL /2||Field beside", "See the ravens./Field beside/Note", "On ravens", ""},
		{"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation",
			zipped(t, "ppt/slides/slide10.xml", slide(10), "ppt/slides/slide2.xml", slide(2), "ppt/slides/_rels/slide2.xml.rels", relationships, "ppt/slides/media.xml", "<x>no</x>"),
			"L /1||Slide 2", "Slide 2/Slide 10", "", ""},
		{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
			zipped(t, "xl/sharedStrings.xml", `<sst><si><t>One</t></si><si><r><t>Tw</t></r><r><t>o</t></r></si></sst>`, "xl/worksheets/_rels/sheet1.xml.rels", relationships,
				"xl/worksheets/sheet1.xml", `<worksheet `+openXML+`><c><f>HYPERLINK("http://a.test/3","x")</f><v>7</v></c><c><is><t>Three</t></is></c><hyperlinks><hyperlink r:id="r1"/></hyperlinks></worksheet>`),
			"L /3||-\nL /1||-", "One/Two/Three", "", ""},
		{"odt", "application/vnd.oasis.opendocument.text", zipped(t, "mimetype", "application/vnd.oasis.opendocument.text", "meta.xml", core, "content.xml",
			`<office:body xmlns:text="t" xmlns:xlink="http://www.w3.org/1999/xlink"><text:h>Head</text:h><text:p>See <text:a xlink:href="http://a.test/1">the <text:span>ravens</text:span></text:a><text:s/>fly<text:a xlink:href="#top">up</text:a></text:p></office:body>`),
			"L /1|the ravens|See the ravens flyup", "Head/See the ravens flyup", "On ravens", ""},
		{"other ZIP", "application/zip", zipped(t, "a.xml", "<p>no</p>"), "", "", "", ""},
		{"cut off", docx, word[:len(word)-30], "", "", "", "open an office document"},
		{"no document", docx, "PK", "", "", "", "open an office document"},
		{"damaged part", docx, zipped(t, "word/document.xml", `<w:p `+openXML+`><w:t>One</w:t></w:p><w:p><w:t>T<`), "", "One/T", "", "word/document.xml"},
		{"deep", docx, zipped(t, "word/document.xml", strings.Repeat("<w:p>", 5000)+"<w:t>x"), "", "", "", "1000 elements"},
		{"many parts", docx, strings.Repeat(zipEntry, maxParts+1), "", "", "", "5000 parts"},
	} {
		d := Parse(Input{URL: "http://a.test/doc", MIME: test.mime, Body: []byte(test.body)}, DefaultLimits())
		if got := links(d); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
		if got := strings.Join(d.Blocks, "/"); got != test.blocks || d.Title != test.title {
			t.Errorf("%s: title %q, text %q; want %q, %q", test.name, d.Title, got, test.title, test.blocks)
		}
		if fault := fmt.Sprint(d.Fault); (d.Fault == nil) != (test.fault == "") || !strings.Contains(fault, test.fault) {
			t.Errorf("%s: fault %q, want %q", test.name, fault, test.fault)
		}
	}
}

// TestOfficeBomb: of a small document that unpacks to a large one as much is decoded as of any body, all parts together.
func TestOfficeBomb(t *testing.T) {
	l := DefaultLimits()
	l.DecodedBytes = 10_000
	part := `<w:p ` + openXML + `><w:t>one</w:t></w:p>` + strings.Repeat(" ", 9000) + `<w:p><w:t>two</w:t></w:p>`
	d := Parse(Input{URL: "http://a.test/", MIME: docx, Body: []byte(zipped(t, "word/document.xml", part, "word/footnotes.xml", part, "word/endnotes.xml", part))}, l)
	if got := strings.Join(d.Blocks, "/"); got != "one/two/one" || d.Fault != nil {
		t.Errorf("%q, %v", got, d.Fault)
	}
}

// FuzzOffice: for any parts, the invariants of Page hold.
func FuzzOffice(f *testing.F) {
	f.Add("word/document.xml", `<p><t>x</t><hyperlink id="r1"/></p>`, relationships)
	f.Add("content.xml", `<p><a href="http://a.test/">x</a></p></p></a>`, "")
	f.Add("xl/worksheets/sheet1.xml", `<f>HYPERLINK("http://a.test/")</f></is>`, "<")
	f.Fuzz(func(t *testing.T, name, part, relations string) {
		if strings.HasSuffix(name, "/") { // a folder has no content
			return
		}
		d := Parse(Input{URL: "http://a.test/", MIME: docx, Body: []byte(zipped(t, name, part, "word/_rels/document.xml.rels", relations))}, DefaultLimits())
		for _, l := range d.Links {
			if l.Block < -1 || l.Block >= len(d.Blocks) || len(l.Anchor) > DefaultLimits().AnchorBytes {
				t.Errorf("%+v of %d blocks", l, len(d.Blocks))
			}
		}
		Parse(Input{URL: "http://a.test/", MIME: docx, Body: []byte(part)}, DefaultLimits())
	})
}
