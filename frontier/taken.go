package frontier

import "maps"

// takenURLs are the URLs of claims, by queue: each is one claim's until that ends. The zero value is ready.
type takenURLs struct {
	claims map[uint64]map[uint64]string // PLD → URL → claim
	n      int
}

// take gives a URL to a claim.
func (t *takenURLs) take(k urlKey, claim string) {
	urls := t.claims[k.pld]
	if urls == nil {
		urls = map[uint64]string{}
		if t.claims == nil {
			t.claims = map[uint64]map[uint64]string{}
		}
		t.claims[k.pld] = urls
	}
	if _, taken := urls[k.url]; !taken {
		t.n++
	}
	urls[k.url] = claim
}

// free takes a URL from a claim, if it has it.
func (t *takenURLs) free(k urlKey, claim string) {
	urls := t.claims[k.pld]
	if holder, taken := urls[k.url]; !taken || holder != claim {
		return
	}
	delete(urls, k.url)
	t.n--
	if len(urls) == 0 {
		delete(t.claims, k.pld)
	}
}

// claim is the claim that has a URL; empty if none has.
func (t *takenURLs) claim(k urlKey) string { return t.claims[k.pld][k.url] }

// of returns a copy of the URLs that are taken from a queue.
func (t *takenURLs) of(pld uint64) map[uint64]string { return maps.Clone(t.claims[pld]) }
