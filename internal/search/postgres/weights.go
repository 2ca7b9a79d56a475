package postgres

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/search/terms"
)

// maxRanked is the number of words of a query, the rarest, by which documents are ranked: each costs time for each document that matches.
const maxRanked = 16

// weighed is a slot with the weight of its words.
type weighed struct {
	slot terms.Slot
	idf  float64
}

// weigh gives slots the weight that BM25 gives them, by the number of documents that have one of their terms. Terms that none has are left out.
func (x *Index) weigh(ctx context.Context, slots []terms.Slot) (list []weighed, err error) {
	if len(slots) == 0 {
		return nil, nil
	}
	var documents int64
	if err := x.pool.QueryRow(ctx, x.sql("SELECT coalesce(sum(documents), 0)::bigint FROM {schema}.segments")).Scan(&documents); err != nil {
		return nil, err
	}
	rows, err := x.pool.Query(ctx, x.sql("SELECT term, documents FROM {schema}.lexemes WHERE term = ANY($1::text[])"), slices.Concat(slots...))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	with := map[string]int64{}
	for rows.Next() {
		var term string
		var n int64
		if err := rows.Scan(&term, &n); err != nil {
			return nil, err
		}
		with[term] = n
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, slot := range slots {
		w, sum := weighed{}, int64(0)
		for _, t := range slot {
			if with[t] > 0 {
				w.slot = append(w.slot, t)
				sum += with[t]
			}
		}
		key := strings.Join(w.slot, " ")
		if len(w.slot) == 0 || seen[key] {
			continue
		}
		seen[key] = true
		w.idf = math.Log(1 + max(0, float64(documents-sum)+0.5)/(float64(sum)+0.5))
		list = append(list, w)
	}
	slices.SortStableFunc(list, func(a, b weighed) int { return cmp.Compare(b.idf, a.idf) })
	return list[:min(maxRanked, len(list))], nil
}

// sum is the rank of the terms in a row: the sum over words of idf and ts_rank. ts_rank divides by the number of terms that it is asked for.
func (c *condition) sum(list []weighed) string {
	var parts []string
	for _, w := range list {
		parts = append(parts, c.arg(w.idf*float64(len(w.slot)))+"::double precision * ts_rank("+rankWeights+", terms, "+c.arg(tsquery([]terms.Slot{w.slot}, ""))+"::text::tsquery, "+byLength+")")
	}
	return "(" + strings.Join(parts, " + ") + ")"
}
