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
		a.Hits, err = x.hits(ctx, q, o.Limit, o.Offset)
	} else {
		a.Hits, err = search.Fold(o, func(offset int) ([]search.Hit, error) {
			return x.hits(ctx, q, 3*(o.Offset+o.Limit)+foldMargin, offset)
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

// hits are those of a query in the order of their rank: first what is newer, if there are no words to rank by.
func (x *Index) hits(ctx context.Context, q query.Query, limit, offset int) (hits []search.Hit, err error) {
	c := condition{analyser: terms.New()}
	where := c.of(q.Root)
	rank, credits := "0::double precision", ""
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
		credits = x.sql(`WITH credit AS MATERIALIZED (
			SELECT url, max(` + sum + `) AS credit
			FROM {schema}.anchors WHERE terms @@ ` + c.arg(tsquery(slots, operator)) + `::text::tsquery
			GROUP BY url ORDER BY credit DESC, url LIMIT ` + strconv.Itoa(search.MaxAnchorTargets) + `) `)
		rank = `(` + sum + ` + ` + c.arg(search.AnchorBoost) +
			`::double precision * coalesce((SELECT credit FROM credit WHERE credit.url = documents.url), 0)) * (1 + ` + c.arg(search.RelevanceWeight) + `::double precision * greatest(0, least(score, 1)))`
	}
	statement := x.sql(credits + "SELECT crawl, segment, content, stored, " + rank + " AS rank FROM {schema}.documents WHERE " + where +
		" ORDER BY rank DESC, seconds DESC, crawl, segment, seq LIMIT " + strconv.Itoa(limit) + " OFFSET " + strconv.Itoa(offset))
	rows, err := x.pool.Query(ctx, statement, c.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var h search.Hit
		var raw, crawl string
		if err := rows.Scan(&crawl, &h.Segment, &h.Content, &raw, &h.Rank); err != nil {
			return nil, err
		}
		var s stored
		if err := json.Unmarshal([]byte(raw), &s); err != nil {
			return nil, fmt.Errorf("read a document of segment %s: %w", h.Segment, err)
		}
		h.Document = s.Document
		h.Crawl = crawl
		hits = append(hits, h)
	}
	return hits, rows.Err()
}
