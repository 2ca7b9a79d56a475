package bleve

import (
	"context"
	"fmt"
	"strconv"

	"github.com/blevesearch/bleve/v2/document"
	index "github.com/blevesearch/bleve_index_api"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// maxPortion bounds the texts that are indexed at a time, in bytes: the terms of a text need about ten times its memory.
const maxPortion = 4 << 20

// AddSegment implements search.Index. The documents of a month are added in portions, each of which is marked together with what it adds; the
// segment is marked at last.
func (x *Index) AddSegment(ctx context.Context, s search.Segment) error {
	c, err := x.crawl(s.Crawl, true)
	if err != nil {
		return err
	}
	c.adding.Lock()
	defer c.adding.Unlock()
	if done, err := c.anchors.has(keyDone + s.Name); done || err != nil {
		return err
	}
	var order []string // months
	byMonth := map[string][]int{}
	for i := range s.Documents {
		month := search.MonthOf(s.Documents[i].Date)
		if month == "" {
			month = noMonth
		}
		if byMonth[month] == nil {
			order = append(order, month)
		}
		byMonth[month] = append(byMonth[month], i)
	}
	for _, month := range order {
		p, err := c.month(month)
		if err != nil {
			return err
		}
		if err := addDocuments(ctx, c.analyser, p, &s, byMonth[month]); err != nil {
			return fmt.Errorf("index %s of %s: %w", month, s.Crawl, err)
		}
	}
	if err := c.addAnchors(&s); err != nil {
		return err
	}
	added := map[string]bool{}
	for _, month := range order {
		added[month] = true
	}
	if err := c.rest(ctx, added); err != nil {
		return fmt.Errorf("merge a month of %s: %w", s.Crawl, err)
	}
	return nil
}

// addDocuments adds documents of a segment, by their numbers.
func addDocuments(ctx context.Context, a *terms.Analyser, p *part, s *search.Segment, numbers []int) error {
	for portion := 0; len(numbers) > 0; portion++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, size := 0, 0
		for n < len(numbers) && (n == 0 || size < maxPortion) {
			size += len(s.Documents[numbers[n]].Text)
			n++
		}
		key := keyPortion + s.Name + "/" + strconv.Itoa(portion)
		done, err := p.has(key)
		if err != nil {
			return err
		}
		if !done {
			if err := addPortion(a, p, s, numbers[:n], key); err != nil {
				return err
			}
		}
		numbers = numbers[n:]
	}
	return nil
}

func addPortion(a *terms.Analyser, p *part, s *search.Segment, numbers []int, key string) error {
	batch := p.index.NewBatch()
	var sum lengths
	for _, n := range numbers {
		doc, more, err := documentOf(a, s.Name, n, &s.Documents[n])
		if err != nil {
			return err
		}
		if err := batch.IndexAdvanced(doc); err != nil {
			return err
		}
		sum.add(more)
	}
	return p.add(batch, sum, key)
}

// The fields of an anchor text's document.
const fieldTarget = "u" // hash of the URL that it leads to, stored

// addAnchors adds the anchor texts of a segment: a document for each URL that they lead to. It marks the segment.
func (c *crawl) addAnchors(s *search.Segment) error {
	batch := c.anchors.index.NewBatch()
	a := c.analyser
	var sum lengths
	for n, target := range s.Targets() {
		field := newTerms(fieldText, index.IndexField)
		a.Each(target.Text, target.Language, 0, field.add)
		if field.length == 0 {
			continue
		}
		doc := document.NewDocument(documentID(s.Name, n))
		doc.AddField(field)
		keyword(doc, fieldTarget, strconv.FormatUint(hashURL(target.URL), 36), asCounted)
		if err := batch.IndexAdvanced(doc); err != nil {
			return err
		}
		sum.add(lengths{Documents: 1, Text: field.length})
	}
	if err := c.anchors.add(batch, sum, keyDone+s.Name); err != nil {
		return fmt.Errorf("index the anchor texts of %s: %w", s.Crawl, err)
	}
	return nil
}
