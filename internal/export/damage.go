package export

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/muninn-archive/muninn/internal/archive"
)

// damage is what of the archive a table lacks because it cannot be read: why, by the name of a segment or of a record. It counts in the name of the table, so that
// another one is written once the archive was repaired.
type damage struct {
	of    map[string]string
	found bool // something was added since the table was begun
}

// errDamage ends the writing of a table whose name is that of one without the damage that was found.
var errDamage = errors.New("the archive is damaged")

// has reports whether it is known that something cannot be read.
func (d *damage) has(name string) bool {
	_, known := d.of[name]
	return known
}

// take notes an error if it says that something is damaged; other errors it returns.
func (d *damage) take(ctx context.Context, name string, err error) error {
	if err == nil || ctx.Err() != nil || !archive.Damaged(err) {
		return err
	}
	d.of[name], d.found = err.Error(), true
	return nil
}

// lines are the reasons, in one order.
func (d *damage) lines() (list []string) {
	for _, name := range slices.Sorted(maps.Keys(d.of)) {
		list = append(list, d.of[name])
	}
	return list
}

// name is what a segment is called in a damage.
func (s *Source) name() string { return s.Crawl.Prefix + "/" + s.Crawl.Name + "/" + s.Segment() }

// table writes a table of the index. What turns out to be damaged is looked for to the end; then the table is written without it, under a name of its own.
func (x *Index) table(ctx context.Context, to archive.Store, o Order, suffix string, write func(context.Context, io.Writer, *damage) (rows int, err error)) (t Tabled, err error) {
	bad := &damage{of: map[string]string{}}
	for again := true; again; again = bad.found && errors.Is(err, errDamage) {
		bad.found = false
		t, err = table(ctx, to, x.tableKey(o, suffix, bad), func(ctx context.Context, out io.Writer) (int, error) {
			rows, err := write(ctx, out, bad)
			if err == nil && bad.found {
				err = errDamage
			}
			return rows, err
		})
	}
	t.Damaged = slices.Concat(x.Damaged, bad.lines())
	return t, err
}
