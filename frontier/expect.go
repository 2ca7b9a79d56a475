package frontier

import (
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/scope"
)

// Elsewhere is a run of a spread crawl that has begun at other workers.
type Elsewhere struct {
	Definition crawl.Definition
	Run        uint32
	Bounds     []string  // hosts or PLDs of the seeds, see scope.Bounds
	Archives   []Place   // that the crawl has written to
	Started    time.Time // when it began at the first of them; zero: not known
}

// Expect makes a run of a spread crawl known that has begun at other workers, so that its partitions can be made of the archive before Begin comes.
// Until then nothing is claimed. Of a run that has begun here it adds the archives only. An earlier run that is in progress here is over: the next one
// begins once it has ended, and this worker was lost meanwhile.
func (f *Frontier) Expect(run Elsewhere) error {
	d := run.Definition
	return f.update(func(tx *transaction) (func(), error) {
		s, adopt, err := f.acquaint(tx, &PartitionCrawl{Name: d.Name, Run: run.Run, Spread: true})
		if err != nil {
			return nil, err
		}
		rec := f.draft(tx, s)
		for _, place := range run.Archives {
			if !slices.Contains(rec.Archives, place) {
				rec.Archives, rec.planned = append(slices.Clip(rec.Archives), place), true
			}
		}
		if !rec.Imported && rec.Run >= run.Run || rec.Imported && rec.Run == run.Run && rec.Definition.Name != "" {
			return adopt, nil
		}
		rec.Imported, rec.Active = true, false
		if run.Run > rec.Run {
			rec.enterRun(run.Run)
		}
		rec.Definition, rec.Bounds, rec.planned = d, run.Bounds, true
		if rec.Started = run.Started; rec.Started.IsZero() { // by which it is known what the run asks for again
			rec.Started = f.opts.Now().UTC()
		}
		sc, err := scope.New(d, run.Bounds)
		if err != nil {
			return nil, err
		}
		return func() {
			if adopt != nil {
				adopt()
			}
			f.adopt(s, sc)
		}, nil
	})
}
