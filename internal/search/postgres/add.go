package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// stored is what the index keeps of a document to show it, beside the columns with its URL and content, with short names: there is one for each document.
type stored struct {
	Run         uint32    `json:"r,omitempty"`
	N           int       `json:"n,omitempty"`
	URL         string    `json:"u,omitempty"` // if the column has another form of it
	Date        time.Time `json:"d"`
	Status      int       `json:"c,omitempty"`
	MIME        string    `json:"m,omitempty"`
	Digest      string    `json:"g,omitempty"` // if it is not the content
	Score       float64   `json:"s,omitempty"`
	Application string    `json:"p,omitempty"`
	Level       string    `json:"v,omitempty"`
	Type        string    `json:"y,omitempty"`
	Language    string    `json:"l,omitempty"`
	Author      string    `json:"a,omitempty"`
	Title       string    `json:"t,omitempty"`
}

// noDigest is how the name of a content begins that is no digest.
const noDigest = "text:"

// storedOf leaves out what columns have.
func storedOf(d *search.Document, content string) stored {
	s := stored{d.Run, d.N, d.URL, d.Date, d.Status, d.MIME, d.Digest, d.Score, d.Application, d.Level, d.Type, d.Language, d.Author, d.Title}
	if clean(d.URL) == d.URL {
		s.URL = ""
	}
	if d.Digest == content && clean(content) == content && !strings.HasPrefix(content, noDigest) {
		s.Digest = ""
	}
	return s
}

// document is what storedOf was made of, but for its text.
func (s *stored) document(crawl, url, content string) search.Document {
	if s.URL != "" {
		url = s.URL
	}
	if s.Digest == "" && s.N == search.WholePage && !strings.HasPrefix(content, noDigest) {
		s.Digest = content
	}
	return search.Document{Run: s.Run, N: s.N, Facts: query.Facts{Crawl: crawl, URL: url, Date: s.Date, Status: s.Status, MIME: s.MIME, Digest: s.Digest, Score: s.Score,
		Application: s.Application, Level: s.Level, Type: s.Type, Language: s.Language, Author: s.Author, Title: s.Title}}
}

const insertDocument = `INSERT INTO {schema}.documents
	(crawl, segment, seq, url, site, host, seconds, status, score, lang, type, media, app, level, author, terms, key, content, stored)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15::text::tsvector, $16::text::tsvector, $17, $18, $19)`

// hashOf is the hash of a URL. There is no index on it, and no URL in the rows of anchor texts: there are many of them, and they are short.
const hashOf = "hashtextextended(%s, 0)"

var insertAnchor = "INSERT INTO {schema}.anchors (target, terms) VALUES (" + fmt.Sprintf(hashOf, "$1::text") + ", $2::text::tsvector)"

// maxQueued bounds the statements that are sent at a time.
const maxQueued = 200

// AddSegment implements search.Index, in one transaction.
func (x *Index) AddSegment(ctx context.Context, s search.Segment) error {
	err := pgx.BeginFunc(ctx, x.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, x.sql("INSERT INTO {schema}.segments (crawl, name, documents) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"), clean(s.Crawl), clean(s.Name), len(s.Documents))
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		w := writer{x: x, tx: tx, analyser: terms.New(), batch: &pgx.Batch{}, with: map[string]int64{}}
		for i := range s.Documents {
			if err := w.document(ctx, &s, i); err != nil {
				return fmt.Errorf("document %d: %w", i, err)
			}
		}
		for _, target := range s.Targets() {
			v := vector{}
			w.analyser.Each(target.Text, target.Language, 0, func(t terms.Term) { v.add(t) })
			if len(v.at) == 0 {
				continue
			}
			if err := w.queue(ctx, insertAnchor, clean(target.URL), v.String()); err != nil {
				return fmt.Errorf("anchor texts: %w", err)
			}
		}
		if err := w.send(ctx); err != nil {
			return err
		}
		return w.count(ctx)
	})
	if err != nil {
		return fmt.Errorf("index segment %s: %w", s.SegmentName, err)
	}
	return nil
}

// writer sends statements in groups.
type writer struct {
	x        *Index
	tx       pgx.Tx
	analyser *terms.Analyser
	batch    *pgx.Batch
	with     map[string]int64 // documents that have a term
}

const addLexemes = `INSERT INTO {schema}.lexemes AS known (term, documents) SELECT * FROM unnest($1::text[], $2::bigint[])
	ON CONFLICT (term) DO UPDATE SET documents = known.documents + excluded.documents`

// count adds to the numbers of documents that have a term. It is the last statement, because other segments wait for it from then on; the
// terms are in order, so that two never wait for each other.
func (w *writer) count(ctx context.Context) error {
	list := slices.Sorted(maps.Keys(w.with))
	numbers := make([]int64, len(list))
	for i, t := range list {
		numbers[i] = w.with[t]
	}
	_, err := w.tx.Exec(ctx, w.x.sql(addLexemes), list, numbers)
	return err
}

func (w *writer) queue(ctx context.Context, statement string, args ...any) error {
	w.batch.Queue(w.x.sql(statement), args...)
	if w.batch.Len() < maxQueued {
		return nil
	}
	return w.send(ctx)
}

func (w *writer) send(ctx context.Context) error {
	if w.batch.Len() == 0 {
		return nil
	}
	err := w.tx.SendBatch(ctx, w.batch).Close()
	w.batch = &pgx.Batch{}
	return err
}

func (w *writer) document(ctx context.Context, s *search.Segment, seq int) error {
	d := &s.Documents[seq]
	content := search.ContentOf(d)
	raw, err := json.Marshal(storedOf(d, content))
	if err != nil {
		return err
	}
	text, author := vector{}, vector{}
	titled := w.analyser.Each(d.Title, d.Language, 0, func(terms.Term) {})
	d.Terms(w.analyser, func(t terms.Term) {
		if text.add(t) && t.Position < titled {
			text.weigh(t)
		}
	})
	for _, t := range text.order {
		w.with[t]++
	}
	for i, name := range w.analyser.Names(d.Author) {
		author.add(terms.Term{Text: name, Position: i})
	}
	value := func(f query.Field) string { return clean(d.Value(f)) }
	return w.queue(ctx, insertDocument, clean(s.Crawl), clean(s.Name), seq, clean(d.URL), value(query.Site), value(query.Host), d.Date.Unix(), d.Status, d.Score, value(query.Lang),
		value(query.Type), clean(d.Media()), value(query.App), value(query.Level), author.String(), text.String(), clean(search.KeyOf(&d.Facts)), content, clean(string(raw)))
}

// maxVector bounds what PostgreSQL stores of a text as a tsvector, in bytes: it refuses one of 1 MiB (its manual, 12.11 "Limitations"), and with it all of a segment. What follows in the text
// is not found.
const maxVector = 1_000_000

// The bytes of a tsvector, at most: of a lexeme beside its text, with its entry, and of a position.
const (
	lexemeBytes   = 8
	positionBytes = 2
)

// vector collects the terms of a text, in the form that PostgreSQL reads as a tsvector.
type vector struct {
	order []string
	at    map[string][]byte
	bytes int // that PostgreSQL will need, at most
	full  bool
}

// add adds a term, unless the vector is full: from then on it takes none, so that what is left out is the end of the text.
func (v *vector) add(t terms.Term) (added bool) {
	positions, known := v.at[t.Text]
	more := positionBytes
	if !known {
		more += len(t.Text) + lexemeBytes
	}
	if v.full = v.full || v.bytes+more > maxVector; v.full {
		return false
	}
	v.bytes += more
	if v.at == nil {
		v.at = map[string][]byte{}
	}
	if !known {
		v.order = append(v.order, t.Text)
		positions = append(positions, ':')
	} else {
		positions = append(positions, ',')
	}
	v.at[t.Text] = strconv.AppendInt(positions, int64(t.Position+1), 10)
	return true
}

// weigh marks the place that was added last as one of the title.
func (v *vector) weigh(t terms.Term) { v.at[t.Text] = append(v.at[t.Text], 'A') }

func (v *vector) String() string {
	var b strings.Builder
	for i, t := range v.order {
		if i > 0 {
			b.WriteByte(' ')
		}
		quote(&b, t)
		b.Write(v.at[t])
	}
	return b.String()
}

// quote writes a lexeme as tsvector and tsquery take it.
func quote(b *strings.Builder, lexeme string) {
	b.WriteByte('\'')
	for i := range len(lexeme) {
		if lexeme[i] == '\'' || lexeme[i] == '\\' {
			b.WriteByte(lexeme[i])
		}
		b.WriteByte(lexeme[i])
	}
	b.WriteByte('\'')
}
