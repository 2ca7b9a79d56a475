package order

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/fnv"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/urls"
)

// FuzzFeatures: the features of a link are those that the texts below have, however they are hashed. Frontiers hold them.
func FuzzFeatures(f *testing.F) {
	for _, s := range []string{
		"", "x", "http://", "http://a.test", "http://a.test/", "http://a.test/~jay/cs101/", "http://a.test/2024/05/Old-Birds.2.HTML?Q=1&b=2&c", "http://a.test:81/Ä1/Ö22.ß//x/",
		"Ann Example", "CS 101 İK ΣΑΣ ΟΔΟΣ Ⅷ", "read more » now or never again", "\xff\xfe 1\xff2 A\xff", "a.b/İ\xc3/ǅ.Ⅷ",
	} {
		f.Add(s, s, s)
	}
	o := NewFused(examples(5), DefaultSettings())
	crawl(o, 20)
	f.Fuzz(func(t *testing.T, url, name, tagPath string) {
		if got, want := appendURLFeatures(nil, url), plainURLFeatures(url); !slices.Equal(got, want) {
			t.Errorf("the form of %q: %x, want %x", url, got, want)
		}
		p := &Page{URL: url, Depth: len(name), Links: []Link{
			{URL: url, Name: name, TagPath: tagPath, Anchor: textOf(name), Around: textOf(name + " " + url)},
			{URL: name, Name: url, TagPath: name, Hints: []Hint{{"anchor", 0.25}, {"spam", -1}, {"helper", 0.5}}},
			{URL: url, Name: name, Anchor: textOf("birds")},
		}}
		p.Links[1].Around, p.Links[2].Around = p.Links[0].Around, textOf(name+" "+name)
		judged := o.Judge(p, nil)
		for i := range p.Links {
			want := plainSignals(o, p, &p.Links[i], judged.Worth)
			if string(judged.Links[i].LinkFeatures) != string(want.encode()) || judged.Links[i].Priority != o.priority(want) {
				t.Errorf("link %d of %q, %q, %q: %x, want %x", i, url, name, tagPath, judged.Links[i].LinkFeatures, want.encode())
			}
		}
	})
}

// plainSignals are the features of a link as texts that are hashed whole.
func plainSignals(o *Fused, p *Page, l *Link, worth float64) signals {
	s := signals{groups: [4]uint32{
		text.Hash("p " + p.URL), text.Hash("t " + urls.AuthorityOf(p.URL) + " " + l.TagPath), text.Hash("d " + directory(l.URL)), text.Hash("s " + urls.AuthorityOf(l.URL) + " " + plainPathShape(l.URL)),
	}}
	s.add(biasID, 1)
	form := plainURLFeatures(l.URL)
	s.add(urlID, min(max(o.relevance.URL(text.NewHashedSet(form)), -3), 3))
	s.add(parentID, worth)
	s.add(depthID, float64(min(p.Depth, 10))/30)
	s.add(anchorID, o.relevance.similarity(l.Anchor))
	s.add(paragraphID, o.relevance.similarity(l.Around))
	for _, h := range l.Hints {
		if id := featureOf(h.Name); id != anchorID && id != paragraphID {
			s.add(id, h.Value)
		}
	}
	s.add(featureOf("writing "+plainNameShape(l.Name)), 0.5)
	for _, id := range form {
		s.add(uint16(id%weights), 0.3)
	}
	for _, t := range l.Anchor.Damped() {
		s.add(uint16((t.ID*31+1)%weights), float64(t.Weight))
	}
	return s
}

// plainURLFeatures are what the form of a URL says: its words, the shape and kind of its path.
func plainURLFeatures(url string) []uint32 {
	list := make([]uint32, 0, 24)
	_, rest, _ := strings.Cut(url, "://")
	host, path, _ := strings.Cut(rest, "/")
	path, query, hasQuery := strings.Cut(path, "?")
	last, count := path, 1
	if at := strings.LastIndexByte(path, '/'); at >= 0 {
		last, count = path[at+1:], 1+strings.Count(path, "/")
	}
	list = append(list, fnv.Add(ofDepth, string(rune('0'+min(count, 9)))))
	if last == "" {
		list = append(list, fnv.Add(ofEnd, "slash"))
	} else {
		name, ext, found := strings.Cut(last, ".")
		list = append(list, fnv.Add(ofFile, plainShape(name)))
		if found {
			list = append(list, fnv.Add(ofExt, strings.ToLower(ext)))
		}
	}
	if hasQuery {
		for part := range strings.SplitSeq(query, "&") {
			name, _, _ := strings.Cut(part, "=")
			list = append(list, fnv.Add(ofParam, name))
		}
	}
	first, form, n := "", make([]byte, 0, 16), 0
	for s := range strings.SplitSeq(path, "/") {
		if n++; s == "" {
			continue
		}
		kind, letter := "~", byte('~')
		if s[0] != '~' {
			kind, letter = plainShape(s), 'x'
		}
		if len(form) == 0 {
			first = kind
		}
		form = append(form, letter)
		if n < count {
			list = append(list, fnv.Add(ofDir, kind))
		}
		list = hashWords(list, ofWord, s)
	}
	begin := ofBegin
	if len(form) > 1 {
		begin = fnv.AddByte(fnv.Add(begin, first), '/')
	}
	list = append(list, fnv.Add(begin, string(form)))
	return hashWords(list, ofHost, host)
}

// plainShape writes a part of a path with its digits alike.
func plainShape(s string) string {
	plain := true
	for i := range len(s) {
		c := s[i]
		plain = plain && c < utf8.RuneSelf && (c < '0' || c > '9') && (c < 'A' || c > 'Z')
	}
	if plain {
		return s
	}
	var b strings.Builder
	digit := false
	for _, r := range strings.ToLower(s) {
		if r >= '0' && r <= '9' {
			if !digit {
				b.WriteByte('0')
			}
			digit = true
			continue
		}
		digit = false
		b.WriteRune(r)
	}
	return b.String()
}

// plainNameShape reports how an anchor is written: "Xx Xx" is mostly a person, "x" a word of a sentence.
func plainNameShape(s string) string {
	var b strings.Builder
	fields := strings.Fields(s)
	for i, f := range fields {
		if i == 5 {
			b.WriteString("…")
			break
		}
		r, n := utf8.DecodeRuneInString(f)
		switch {
		case unicode.IsUpper(r) && strings.ToUpper(f) == f && len(f) > n:
			b.WriteByte('X')
		case unicode.IsUpper(r):
			b.WriteByte('C')
		case unicode.IsDigit(r):
			b.WriteByte('0')
		case unicode.IsLetter(r):
			b.WriteByte('c')
		default:
			b.WriteByte('.')
		}
	}
	return b.String()
}

// plainPathShape has the parts of a path alike that differ from page to page.
func plainPathShape(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	_, path, _ := strings.Cut(rest, "/")
	parts := strings.Split(path, "/")
	for i, p := range parts {
		switch {
		case strings.HasPrefix(p, "~"):
			parts[i] = "~"
		case i == len(parts)-1 && p != "":
			_, ext, _ := strings.Cut(p, ".")
			parts[i] = "f." + ext
		default:
			parts[i] = plainShape(p)
		}
	}
	return strings.Join(parts, "/")
}
