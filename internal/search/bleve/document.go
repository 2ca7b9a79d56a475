package bleve

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2/document"
	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// The fields of a document.
const (
	fieldText   = "t"  // the terms of title and text, with their positions
	fieldTitle  = "h"  // the terms of the title
	fieldAuthor = "a"  // the words of the author's name, with their positions
	fieldSite   = "s"  // pay-level domain
	fieldHost   = "n"  // host
	fieldLang   = "l"  // language
	fieldType   = "y"  // type
	fieldMIME   = "m"  // MIME type
	fieldApp    = "p"  // application
	fieldLevel  = "v"  // level
	fieldStatus = "c"  // status, in decimal
	fieldKey    = "k"  // search.KeyOf
	fieldOrder  = "o"  // order.encode
	fieldStored = "_f" // stored, in JSON
)

// keywords are the fields that have the value of a field of the query language.
var keywords = map[query.Field]string{
	query.Site: fieldSite, query.Host: fieldHost, query.Lang: fieldLang, query.Type: fieldType, query.App: fieldApp, query.Level: fieldLevel,
}

const (
	withPositions = index.IndexField | index.IncludeTermVectors
	asKeyword     = index.IndexField | index.SkipFreqNorm
	asCounted     = asKeyword | index.DocValues
)

// stored is what the index keeps of a document to show it.
type stored struct {
	Segment string `json:"g"`
	search.Document
	Content string `json:"c"`
}

// documentOf is a document as bleve takes it, and the number of words of its title and text.
func documentOf(a *terms.Analyser, segment string, n int, d *search.Document) (*document.Document, lengths, error) {
	id := documentID(segment, n)
	doc := document.NewDocument(id)
	text, title := newTerms(fieldText, withPositions), newTerms(fieldTitle, index.IndexField)
	d.Terms(a, text.add)
	text.finish()
	a.Each(d.Title, d.Language, 0, title.add)
	doc.AddField(text)
	if title.length > 0 {
		doc.AddField(title)
	}
	if d.Author != "" {
		author := newTerms(fieldAuthor, withPositions)
		for i, name := range a.Names(d.Author) {
			author.add(terms.Term{Text: name, Position: i})
		}
		author.finish()
		doc.AddField(author)
	}
	for field, name := range keywords {
		options := asKeyword
		if field == query.Site {
			options = asCounted
		}
		keyword(doc, name, d.Value(field), options)
	}
	keyword(doc, fieldMIME, d.Media(), asKeyword)
	keyword(doc, fieldStatus, strconv.Itoa(d.Status), asKeyword)
	keyword(doc, fieldKey, search.KeyOf(&d.Facts), asCounted)
	keyword(doc, fieldOrder, orderOf(id, d).encode(), asCounted)
	s := stored{segment, *d, search.ContentOf(d)}
	s.Text, s.Crawl = "", ""
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, lengths{}, fmt.Errorf("encode document %d of segment %s: %w", n, segment, err)
	}
	doc.AddField(document.NewTextFieldWithIndexingOptions(fieldStored, nil, raw, index.StoreField))
	return doc, lengths{1, text.length, title.length}, nil
}

// documentID is that of the document number n of a segment.
func documentID(segment string, n int) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(segment))
	return strconv.FormatUint(h.Sum64(), 36) + "." + strconv.FormatInt(int64(n), 36)
}

// keyword adds a field with one value, if there is one. In the values of documents bleve takes the byte 0xff, which UTF-8 has not, for their
// end.
func keyword(doc *document.Document, name, value string, options index.FieldIndexingOptions) {
	if value = strings.ToValidUTF8(value, "\uFFFD"); value != "" {
		doc.AddField(document.NewTextFieldCustom(name, nil, []byte(value), options, nil))
	}
}

// termsField is a field with terms that were made before.
type termsField struct {
	name    string
	options index.FieldIndexingOptions
	length  int
	terms   index.TokenFrequencies
	places  []index.TokenLocation // room for some
}

func newTerms(name string, options index.FieldIndexingOptions) *termsField {
	return &termsField{name: name, options: options, terms: index.TokenFrequencies{}}
}

// placesAtOnce is the number of places that are allocated together.
const placesAtOnce = 256

func (f *termsField) add(t terms.Term) {
	f.length++
	known := f.terms[t.Text]
	if known == nil {
		known = &index.TokenFreq{Term: []byte(t.Text)}
		f.terms[t.Text] = known
	}
	known.SetFrequency(known.Frequency() + 1)
	if !f.options.IncludeTermVectors() {
		return
	}
	if len(known.Locations) > 0 {
		first := known.Locations[0]
		first.ArrayPositions = append(first.ArrayPositions, uint64(t.Position+1))
		return
	}
	if len(f.places) == cap(f.places) {
		f.places = make([]index.TokenLocation, 0, placesAtOnce)
	}
	f.places = append(f.places, index.TokenLocation{Position: t.Position + 1}) // bytes are left out: snippets find them in the text
	known.Locations = append(known.Locations, &f.places[len(f.places)-1])
}

// finish turns the positions of a term behind its first into their distances from each other. bleve writes five numbers for each location; a term has one location
// for all of its positions, with the others in the place of positions in arrays: one number for each, of one byte mostly.
func (f *termsField) finish() {
	for _, t := range f.terms {
		for _, l := range t.Locations {
			for i := len(l.ArrayPositions) - 1; i > 0; i-- {
				l.ArrayPositions[i] -= l.ArrayPositions[i-1]
			}
			if len(l.ArrayPositions) > 0 {
				l.ArrayPositions[0] -= uint64(l.Position)
			}
		}
	}
}

// positionsOf appends the positions of a term in a document to a list.
func positionsOf(list []uint64, locations []segment.Location) []uint64 {
	for _, l := range locations {
		at := l.Pos()
		list = append(list, at)
		for _, more := range l.ArrayPositions() {
			at += more
			list = append(list, at)
		}
	}
	return list
}

// The methods of document.Field.

func (f *termsField) Name() string                                     { return f.name }
func (f *termsField) ArrayPositions() []uint64                         { return nil }
func (f *termsField) Options() index.FieldIndexingOptions              { return f.options }
func (f *termsField) Analyze()                                         {}
func (f *termsField) Value() []byte                                    { return nil }
func (f *termsField) NumPlainTextBytes() uint64                        { return 0 }
func (f *termsField) Size() int                                        { return 64 * len(f.terms) }
func (f *termsField) EncodedFieldType() byte                           { return 't' }
func (f *termsField) AnalyzedLength() int                              { return f.length }
func (f *termsField) AnalyzedTokenFrequencies() index.TokenFrequencies { return f.terms }
