package frontier

// Inherit makes the crawl known, which another frontier knew that is lost: it has had that many runs. What it
// knew is to be brought in by Commit, until Restored is called; Plan says so.
func (h Crawl) Inherit(runs uint32) error {
	f, name := h.f, h.crawl
	return f.update(func(tx *transaction) (func(), error) {
		f.mu.Lock()
		_, known := f.crawls[name]
		id, full := f.freeID(tx)
		f.mu.Unlock()
		if _, born := tx.added[name]; known || born {
			return nil, nil
		}
		if full != nil {
			return nil, full
		}
		s, err := f.newState(crawlRecord{ID: id, Name: name, Sequence: f.opts.Now().UnixMilli(), Run: runs, Restore: true, Unclaimed: true})
		if err != nil {
			return nil, err
		}
		tx.addCrawl(name, s)
		f.draft(tx, s)
		return func() { f.adopt(s, s.scope) }, nil
	})
}

// Restored says that all is brought in that another frontier knew.
func (h Crawl) Restored() error {
	return h.change(func(rec *crawlRecord) { rec.Restore = false })
}
