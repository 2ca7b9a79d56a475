package activities

import (
	"reflect"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
)

// TestAnalysed: what the AAH step says of a batch.
func TestAnalysed(t *testing.T) {
	page := func(app string, links, objects int) pipeline.Parsed {
		var p pipeline.Parsed
		p.Application, p.Links, p.Objects = app, make([]crawl.Outlink, links), make([]crawl.Object, objects)
		return p
	}
	for name, c := range map[string]struct {
		batch pipeline.ParsedBatch
		want  AnalyseResult
	}{
		"no page":        {want: AnalyseResult{}},
		"broken pages":   {batch: pipeline.ParsedBatch{Broken: 2}, want: AnalyseResult{Broken: 2}},
		"no application": {batch: pipeline.ParsedBatch{Pages: []pipeline.Parsed{page("", 3, 1)}}, want: AnalyseResult{Pages: 1, Links: 3, Objects: 1}},
		"applications": {
			batch: pipeline.ParsedBatch{Pages: []pipeline.Parsed{page("phpBB", 3, 1), page("phpBB", 0, 2), page("", 1, 0), page("MediaWiki", 1, 1)}, Broken: 1},
			want:  AnalyseResult{Pages: 4, Links: 5, Objects: 4, Broken: 1, Applications: map[string]int{"phpBB": 2, "MediaWiki": 1}},
		},
	} {
		if c.want.Applications == nil {
			c.want.Applications = map[string]int{}
		}
		if got := analysed(&c.batch); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
