package activities

import (
	"bytes"
	"context"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/kb"
)

// keepLearned puts the rules that were learned for sites of the crawl into its archive, as files of the knowledge
// base: PREFIX/CRAWL/kb/run-N/HOST.xml.
func (a *Activities) keepLearned(ctx context.Context, name string) error {
	if a.Helper == nil || a.Helper.Learned == nil {
		return nil
	}
	plan, err := a.Frontier.Plan(name)
	if err != nil {
		return err
	}
	d := plan.Definition
	store, err := a.Archives.Open(ctx, d.Archive.Where)
	if err != nil {
		return err
	}
	bad, err := a.Helper.Learned.Sites(func(s *adapt.Site) error {
		u, err := urls.Parse("http://" + s.Host + "/")
		if err != nil || !s.InForce() || !a.Frontier.Met(name, u.PLD()) {
			return nil
		}
		for _, app := range s.Applications() {
			var out bytes.Buffer
			if err := s.WriteXML(&out, app, kb.Namespace, aah.As); err != nil {
				return err
			}
			key := layout(d).Rules(plan.Run, s.File(app))
			if err := store.Put(ctx, key, &out, int64(out.Len())); err != nil {
				return err
			}
		}
		return nil
	})
	for _, name := range bad {
		activity.GetLogger(ctx).Warn("what was learned of a site cannot be read and is not archived", "file", name)
	}
	return err
}
