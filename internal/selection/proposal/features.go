package proposal

import (
	"math"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/selection"
	"github.com/muninn-archive/muninn/internal/text"
)

// A family is a kind of features of a page. The features of a family are brought to one length, its weight: a long text says no more
// than a short title.
type family byte

const (
	familyText    family = 'w' // words of the text
	familyHead    family = 'f' // of its first lines
	familyTitle   family = 't'
	familyAnchors family = 'n' // words of links to the page
	familyPath    family = 'u' // parts of the URL's path and query
	familyShape   family = 's' // forms of the path
	familyHost    family = 'h' // host, its labels
	familyHelper  family = 'a' // application, level, types of objects, language, author, MIME
)

// The limits of what is read of a page.
const (
	maxText   = 32 << 10 // bytes of text
	headBytes = 400      // of the text that count as its first lines
	maxParts  = 64       // of a URL
	maxTerms  = 256      // features of a family: the heaviest
)

// reader makes the features of pages.
type reader struct {
	words    *text.Vocabulary
	settings Settings
}

// page makes the features of a page by family, not weighed yet.
func (r *reader) page(f *selection.Facts) map[family]text.HashedVector {
	body := f.Text[:min(len(f.Text), maxText)]
	out := map[family]text.HashedVector{
		familyText:    r.terms(familyText, body, f.Language),
		familyHead:    r.terms(familyHead, body[:min(len(body), headBytes)], f.Language),
		familyTitle:   r.terms(familyTitle, f.Title, f.Language),
		familyAnchors: r.terms(familyAnchors, strings.Join(f.Anchors[:min(len(f.Anchors), maxParts)], "\n"), f.Language),
		familyPath:    named(familyPath, pathParts(f.URL)),
		familyShape:   named(familyShape, shapes(f.URL)),
		familyHost:    named(familyHost, hostParts(f)),
		familyHelper:  named(familyHelper, helperParts(f)),
	}
	return out
}

// terms are the stemmed words of a text with their damped frequencies.
func (r *reader) terms(of family, words, language string) text.HashedVector {
	v := r.words.Vector(strings.ToValidUTF8(words, ""), language)
	out := make(text.HashedVector, 0, len(v))
	for term, n := range v {
		out = append(out, text.HashedTerm{ID: id(of, term), Weight: float32(text.Sublinear(n))})
	}
	return out.Sorted()
}

// id is the number of a feature.
func id(of family, name string) uint32 { return text.Hash(string(rune(of)) + ":" + name) }

// named are features that a page has or has not.
func named(of family, names []string) text.HashedVector {
	out := make(text.HashedVector, 0, len(names))
	for _, name := range names {
		out = append(out, text.HashedTerm{ID: id(of, name), Weight: 1})
	}
	out = out.Sorted()
	for i := range out {
		out[i].Weight = 1
	}
	return out
}

// afterHost is the path and query of a canonical URL.
func afterHost(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		return rest[slash:]
	}
	return "/"
}

func letterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// pathParts are the words of a URL behind its host, in lower case, with numbers as "0": of the last segment also as such, and the first
// letters of longer ones.
func pathParts(url string) (list []string) {
	path := strings.ToLower(afterHost(url))
	last := strings.LastIndexByte(path, '/')
	for from := 0; from < len(path) && len(list) < maxParts; {
		if !letterOrDigit(path[from]) {
			from++
			continue
		}
		to := from
		for to < len(path) && letterOrDigit(path[to]) {
			to++
		}
		word := numbersOut(path[from:to])
		list = append(list, word)
		if from > last {
			list = append(list, "/"+word)
		}
		if len(word) > 4 {
			list = append(list, word[:4]+"*")
		}
		if from > 0 && path[from-1] == '~' {
			list = append(list, "~")
		}
		from = to
	}
	return list
}

// numbersOut writes each run of digits as 0.
func numbersOut(word string) string {
	var b strings.Builder
	for i := range len(word) {
		digit := word[i] >= '0' && word[i] <= '9'
		switch {
		case !digit:
			b.WriteByte(word[i])
		case i == 0 || word[i-1] < '0' || word[i-1] > '9':
			b.WriteByte('0')
		}
	}
	return b.String()
}

// shapes are forms of a path: with "a" for each word and "0" for each number, how many segments it has, and how it ends.
func shapes(url string) []string {
	path, query, hasQuery := strings.Cut(afterHost(url), "?")
	var b strings.Builder
	for i := 0; i < len(path) && b.Len() < maxParts; i++ {
		c := path[i]
		kind := c
		switch {
		case c >= '0' && c <= '9':
			kind = '0'
		case letterOrDigit(c):
			kind = 'a'
		}
		if n := b.Len(); n > 0 && (kind == 'a' || kind == '0') && b.String()[n-1] == kind {
			continue
		}
		b.WriteByte(kind)
	}
	list := []string{b.String(), "depth" + strconv.Itoa(min(strings.Count(path, "/"), 9))}
	switch name := path[strings.LastIndexByte(path, '/')+1:]; {
	case name == "":
		list = append(list, "folder")
	case strings.HasPrefix(strings.ToLower(name), "index.") || strings.HasPrefix(strings.ToLower(name), "default.") || strings.HasPrefix(strings.ToLower(name), "home"):
		list = append(list, "folder", "index")
	default:
		list = append(list, "file")
	}
	if hasQuery {
		list = append(list, "query"+strconv.Itoa(min(strings.Count(query, "&"), 9)))
	}
	return list
}

// hostParts are the host and its labels.
func hostParts(f *selection.Facts) []string {
	list := []string{"=" + f.Host, "@" + f.Site}
	labels := strings.Split(f.Host, ".")
	return append(list, labels[:min(len(labels), 8)]...)
}

// scoreSteps is in how many steps the score is given.
const scoreSteps = 8

// helperParts is what the crawl knew of a page: what the helper has found in it, and its score.
func helperParts(f *selection.Facts) (list []string) {
	add := func(kind, value string) {
		if value != "" {
			list = append(list, kind+"="+value)
		}
	}
	add("app", f.Application)
	add("level", f.Level)
	if f.Level != "" {
		add("app and level", f.Application+"/"+f.Level)
	}
	add("language", f.Language)
	add("author", f.Author)
	add("mime", f.MIME)
	for _, t := range f.Types[:min(len(f.Types), maxParts)] {
		add("type", t)
	}
	if f.Score >= 0 { // a step that is reached is a feature: what a score of 0.8 says, one of 0.9 says too
		for step := 1; step <= scoreSteps && f.Score*scoreSteps >= float64(step); step++ {
			list = append(list, "score"+strconv.Itoa(step))
		}
	}
	return list
}

// weigh joins the families of a page: terms weigh by how rare they are among all candidates, families by the settings. The vector has
// length 1.
func (r *reader) weigh(families map[family]text.HashedVector, pages float64, having map[uint32]float32) (out text.HashedVector) {
	for _, of := range allFamilies {
		v, weight := families[of], r.settings.weight(of)
		if weight == 0 {
			continue
		}
		kept := make(text.HashedVector, 0, len(v))
		for _, x := range v {
			n := having[x.ID]
			if n < r.settings.LeastPages {
				continue // what no other page has teaches nothing of others
			}
			x.Weight *= float32(math.Log(1 + pages/float64(n)))
			kept = append(kept, x)
		}
		kept = kept.Heaviest(maxTerms).Unit()
		for _, x := range kept {
			out = append(out, text.HashedTerm{ID: x.ID, Weight: x.Weight * float32(weight)})
		}
	}
	return out.Sorted().Unit()
}

// allFamilies is that of the families, which the sums of weights depend on.
var allFamilies = []family{familyText, familyHead, familyTitle, familyAnchors, familyPath, familyShape, familyHost, familyHelper}
