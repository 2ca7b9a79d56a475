package derive

import (
	"context"
	"fmt"
	"slices"

	"github.com/muninn-archive/muninn/internal/archive"
)

// Pending lists segments of a crawl that a step has not derived yet, in the order of their names: at most so many, behind after. A segment that is committed meanwhile may be missing. It lists the keys of
// the crawl's segments and of the step's derivations, and reads no object; it holds the names of what is derived behind after. more says that there may be further ones behind the last.
func Pending(ctx context.Context, store archive.Store, at archive.CrawlAt, step Step, after string, most int) (list []string, more bool, err error) {
	done := map[string]bool{}
	err = Segments(ctx, store, at, step, func(segment string) error {
		if segment > after {
			done[segment] = true
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	last := ""
	err = store.List(ctx, layoutOf(at).Manifests(), func(o archive.Object) error {
		segment, is := archive.SegmentOf(o.Key)
		switch {
		case !is || segment <= after || done[segment]:
		case len(list) < most || segment < last: // keys are in another order than names, where a name is the beginning of another
			at, _ := slices.BinarySearch(list, segment)
			if list = slices.Insert(list, at, segment); len(list) > most {
				list, more = list[:most], true
			}
			last = list[len(list)-1]
		default:
			more = true
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, false, fmt.Errorf("list the segments of %s: %w", at.Name, err)
	}
	return list, more, nil
}
