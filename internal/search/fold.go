package search

// Fold picks the hits that an answer shows from all hits in the order of their rank: of several with the same content the first. next returns
// those from an offset on, as many as it likes, and none at the end. Implementations of Index share it.
func Fold(o Options, next func(offset int) ([]Hit, error)) (hits []Hit, err error) {
	at := map[string]int{} // by content, the place among the hits that are kept
	for offset := 0; offset < MaxFolded; {
		list, err := next(offset)
		if err != nil || len(list) == 0 {
			return hits, err
		}
		for _, h := range list {
			if first, known := at[h.Content]; known {
				if shown := first - o.Offset; shown >= 0 {
					hits[shown].Duplicates++
				}
				continue
			}
			kept := len(at)
			if kept == o.Offset+o.Limit {
				return hits, nil
			}
			at[h.Content] = kept
			if kept >= o.Offset {
				hits = append(hits, h)
			}
		}
		offset += len(list)
	}
	return hits, nil
}
