package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// The weights of ts_rank for places of the classes D, C, B and A: words of a text have D, those of titles A.
const rankWeights = "'{0.4, 0.4, 0.4, 1.0}'::real[]"

// byLength makes ts_rank divide by 1 + log(length) (PostgreSQL's manual, 12.3.3).
const byLength = "1"

// Search implements search.Index.
func (x *Index) Search(ctx context.Context, q query.Query, o search.Options) (a search.Answer, err error) {
	if o, err = o.Check(); err != nil {
		return a, err
	}
	if err := x.count(ctx, q, o, &a); err != nil {
		return a, fmt.Errorf("search: %w", err)
	}
	if o.Limit == 0 || a.Total == 0 {
		return a, nil
	}
	if !o.Fold {
		a.Hits, err = x.hits(ctx, q, a.Total, o.Limit, o.Offset)
	} else {
		a.Hits, err = search.Fold(o, func(offset int) ([]search.Hit, error) {
			return x.hits(ctx, q, a.Total, 3*(o.Offset+o.Limit)+foldMargin, offset)
		})
	}
	if err != nil {
		return a, fmt.Errorf("search: %w", err)
	}
	return a, nil
}

// foldMargin is the least number of hits that are read at a time while duplicates are folded.
const foldMargin = 64

// count fills in the total, the facets and the histogram.
func (x *Index) count(ctx context.Context, q query.Query, o search.Options, a *search.Answer) error {
	c := condition{analyser: terms.New()}
	where := c.of(q.Root)
	if !o.Facets && !o.Histogram {
		return x.pool.QueryRow(ctx, x.sql("SELECT count(*) FROM {schema}.documents WHERE "+where), c.args...).Scan(&a.Total)
	}
	rows, err := x.pool.Query(ctx, x.sql("SELECT site, key, count(*) FROM {schema}.documents WHERE "+where+" GROUP BY GROUPING SETS ((site), (key))"), c.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	tally := search.NewTally()
	for rows.Next() {
		var site, key *string
		var n int
		if err := rows.Scan(&site, &key, &n); err != nil {
			return err
		}
		if key != nil {
			tally.AddKey(*key, n)
			a.Total += n
		} else if site != nil {
			tally.AddDomain(*site, n)
		}
	}
	tally.Fill(a, o)
	return rows.Err()
}

// maxScored bounds the documents that are ranked by their words, because each is read for that: of more, those are that are newest, and of a query with an OR
// also the newest of those that have its rarest word.
const maxScored = 20_000

// newestFirst is the order of documents of the same rank.
const newestFirst = "seconds DESC, crawl, segment, seq"

// hits are those of a query, of so many that it finds, in the order of their rank: first what is newer, if there are no words to rank by.
func (x *Index) hits(ctx context.Context, q query.Query, total, limit, offset int) (hits []search.Hit, err error) {
	c := condition{analyser: terms.New()}
	where := c.of(q.Root)
	rank, credits, from := "0::double precision", "", "{schema}.documents"
	slots, together := wanted(q)
	weighed, err := x.weigh(ctx, slots)
	if err != nil {
		return nil, err
	}
	if len(weighed) > 0 {
		operator := " | "
		if together {
			operator = " & "
		}
		sum := c.sum(weighed)
		credits = `WITH credit AS MATERIALIZED (
			SELECT target, max(` + sum + `) AS credit
			FROM {schema}.anchors WHERE terms @@ ` + c.arg(tsquery(slots, operator)) + `::text::tsquery
			GROUP BY target ORDER BY credit DESC, target LIMIT ` + strconv.Itoa(search.MaxAnchorTargets) + `) `
		from += " LEFT JOIN credit ON credit.target = " + fmt.Sprintf(hashOf, "url")
		rank = `(` + sum + ` + ` + c.arg(search.AnchorBoost) +
			`::double precision * coalesce(credit, 0)) * (1 + ` + c.arg(search.RelevanceWeight) + `::double precision * greatest(0, least(score, 1)))`
		if total > x.scored {
			where = c.candidates(where, x.scored, weighed[0].slot, together)
		}
	}
	statement := x.sql(credits + "SELECT crawl, segment, url, content, stored, " + rank + " AS rank FROM " + from + " WHERE " + where +
		" ORDER BY rank DESC, " + newestFirst + " LIMIT " + strconv.Itoa(limit) + " OFFSET " + strconv.Itoa(offset))
	rows, err := x.pool.Query(ctx, statement, c.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var h search.Hit
		var raw, crawl, url string
		if err := rows.Scan(&crawl, &h.Segment, &url, &h.Content, &raw, &h.Rank); err != nil {
			return nil, err
		}
		var s stored
		if err := json.Unmarshal([]byte(raw), &s); err != nil {
			return nil, fmt.Errorf("read a document of segment %s: %w", h.Segment, err)
		}
		h.Document = s.document(crawl, url, h.Content)
		hits = append(hits, h)
	}
	return hits, rows.Err()
}

// candidates is the condition of so many documents that another condition finds. To choose them needs no look at their words: the index has those.
func (c *condition) candidates(where string, most int, rarest terms.Slot, together bool) string {
	newest := func(where string) string {
		return "(SELECT ctid FROM {schema}.documents WHERE " + where + " ORDER BY " + newestFirst + " LIMIT " + strconv.Itoa(most) + ")"
	}
	list := newest(where)
	if !together {
		list += " UNION " + newest(where+" AND terms @@ "+c.arg(tsquery([]terms.Slot{rarest}, ""))+"::text::tsquery")
	}
	return "documents.ctid = ANY (ARRAY(" + list + "))"
}
