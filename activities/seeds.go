package activities

import (
	"sync"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
)

// seedsKept is how long the seeds of a crawl are kept in memory: a worker that joins loads a few hundred partitions one after the other, and a file of seeds may be long.
const seedsKept = time.Minute

// knownSeeds are those of crawls that were asked for of late. The zero value has none.
type knownSeeds struct {
	mu sync.Mutex
	of map[string]*seedsOfRun // by crawl
}

// seedsOfRun are the seeds of a run by partition.
type seedsOfRun struct {
	run     uint32
	owner   string // one that takes the run over may have other seeds
	version int    // of the definition
	by      map[frontier.Partition][]crawl.Discovery
}

// in lists the seeds of a run in a partition.
func (k *knownSeeds) in(p frontier.Partition, plan frontier.Plan) ([]crawl.Discovery, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	name := plan.Definition.Name
	if s, known := k.of[name]; known && s.run == plan.Run && s.owner == plan.Owner && s.version == plan.Version {
		return s.by[p], nil
	}
	list, _, err := pipeline.Seeds(plan.Definition)
	if err != nil {
		return nil, err
	}
	if k.of == nil {
		k.of = map[string]*seedsOfRun{}
	}
	read := &seedsOfRun{plan.Run, plan.Owner, plan.Version, frontier.ByPartition(list)}
	k.of[name] = read
	time.AfterFunc(seedsKept, func() { k.forget(name, read) })
	return read.by[p], nil
}

// forget deletes seeds, unless others have come in their place.
func (k *knownSeeds) forget(name string, read *seedsOfRun) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of[name] == read {
		delete(k.of, name)
	}
}
