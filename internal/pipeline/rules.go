package pipeline

import (
	"bytes"
	"context"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/kb"
)

// KeepRules puts the rules that were learned for sites of the crawl into its archive, as files of the knowledge
// base: PREFIX/CRAWL/kb/run-N/HOST@WORKER.xml.
func (e *Engine) KeepRules(ctx context.Context, plan frontier.Plan, store archive.Store) error {
	if e.Helper == nil || e.Helper.Adaptations == nil {
		return nil
	}
	d := plan.Definition
	bad, err := e.Helper.Adaptations.Sites(func(s *adapt.Site) error {
		u, err := urls.Parse("http://" + s.Host + "/")
		if err != nil || !s.InForce() || !e.Frontier.Crawl(d.Name).URLs().Met(u.PLD()) {
			return nil
		}
		for _, app := range s.Applications() {
			var out bytes.Buffer
			if err := s.WriteXML(&out, app, kb.Namespace, extract.ValueType); err != nil {
				return err
			}
			key := archive.LayoutOf(d).Rules(plan.Run, s.File(app), e.Worker)
			if err := store.Put(ctx, key, &out, int64(out.Len())); err != nil {
				return err
			}
		}
		return nil
	})
	for _, name := range bad {
		e.log(ctx).Warn("what was learned of a site cannot be read and is not archived", "file", name)
	}
	return err
}
