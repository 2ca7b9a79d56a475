package frontier

import "github.com/muninn-archive/muninn/frontier/internal/record"

// takenURLs are the URLs of claims, by queue: each is one claim's until that ends. The zero value is ready.
type takenURLs struct {
	claims map[uint64]map[uint64]string // PLD → URL → claim
	n      int
}

// take gives a URL to a claim.
func (t *takenURLs) take(k record.Key, claim string) {
	urls := t.claims[k.PLD]
	if urls == nil {
		urls = map[uint64]string{}
		if t.claims == nil {
			t.claims = map[uint64]map[uint64]string{}
		}
		t.claims[k.PLD] = urls
	}
	if _, taken := urls[k.URL]; !taken {
		t.n++
	}
	urls[k.URL] = claim
}

// free takes a URL from a claim, if it has it.
func (t *takenURLs) free(k record.Key, claim string) {
	urls := t.claims[k.PLD]
	if holder, taken := urls[k.URL]; !taken || holder != claim {
		return
	}
	delete(urls, k.URL)
	t.n--
	if len(urls) == 0 {
		delete(t.claims, k.PLD)
	}
}

// claim is the claim that has a URL; empty if none has.
func (t *takenURLs) claim(k record.Key) string { return t.claims[k.PLD][k.URL] }
