package bleve

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/mapping"
	index "github.com/blevesearch/bleve_index_api"
)

// part is one index of bleve in a folder. It keeps the sums of its documents' lengths.
type part struct {
	month string // of its documents; "" of one with anchor texts
	index bleve.Index

	dir     string
	trouble *trouble

	idle    int      // segments of its crawl since the last that added to it; only AddSegment uses it
	merging *merging // that has not ended, or nil; only AddSegment uses it

	mu  sync.Mutex
	sum lengths
}

// The keys of what a part keeps beside its documents.
const (
	keySum     = "sum"      // lengths, in JSON
	keyDone    = "done/"    // with the name of a segment: all of it is indexed
	keyPortion = "portion/" // with the name and a number: this portion of it is indexed
)

// openPart opens the part in a folder, which it makes if there is none.
func openPart(dir, month string) (*part, error) { return openMerging(dir, month, mergesOf(month)) }

// openMerging is openPart with the options of merges in the background.
func openMerging(dir, month string, merges map[string]any) (*part, error) {
	idle := quietAfter // of one that is there: a process that adds little merges, too
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		idle = 0
		if err := create(dir); err != nil {
			return nil, fmt.Errorf("make the index %s: %w", dir, err)
		}
	}
	watched := watch(dir)
	opened, err := bleve.OpenUsing(dir, map[string]any{"bolt_timeout": "1s", "scorchMergePlanOptions": merges, "asyncErrorCallbackName": troublesName})
	if err != nil {
		watched.close()
		return nil, fmt.Errorf("open the index %s (one process at a time may have it open; one that is damaged may be deleted, and is filled again): %w", dir, err)
	}
	p := &part{month: month, index: opened, dir: dir, trouble: watched, idle: idle}
	raw, err := opened.GetInternal([]byte(keySum))
	if err == nil && raw != nil {
		err = json.Unmarshal(raw, &p.sum)
	}
	if err != nil {
		_ = p.close()
		return nil, fmt.Errorf("read the sums of the index %s: %w", dir, err)
	}
	return p, nil
}

func (p *part) close() error {
	p.trouble.close()
	return p.index.Close()
}

// create makes an empty index under another name first: one that was not finished is not opened.
func create(dir string) error {
	made := dir + ".new"
	if err := os.RemoveAll(made); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	empty, err := bleve.New(made, mapping.NewIndexMapping())
	if err != nil {
		return err
	}
	if err := empty.Close(); err != nil {
		return err
	}
	return os.Rename(made, dir)
}

func (p *part) has(key string) (bool, error) {
	raw, err := p.index.GetInternal([]byte(key))
	return raw != nil, err
}

func (p *part) sums() lengths {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sum
}

// add applies a batch that adds documents of given lengths, and marks it with a key.
func (p *part) add(batch *bleve.Batch, more lengths, key string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	sum := p.sum
	sum.add(more)
	raw, err := json.Marshal(sum)
	if err != nil {
		return err
	}
	batch.SetInternal([]byte(keySum), raw)
	batch.SetInternal([]byte(key), []byte{1})
	if err := p.index.Batch(batch); err != nil {
		return err
	}
	p.sum = sum
	return nil
}

func (p *part) reader() (index.IndexReader, error) {
	advanced, err := p.index.Advanced()
	if err != nil {
		return nil, err
	}
	return advanced.Reader()
}
