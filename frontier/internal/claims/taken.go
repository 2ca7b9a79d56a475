package claims

// taken are the URLs of claims, by queue: each is one claim's until that ends. The zero value is ready.
type taken struct {
	claims map[uint64]map[uint64]string // PLD → URL → claim
	n      int
}

// take gives a URL to a claim.
func (t *taken) take(pld, url uint64, claim string) {
	urls := t.claims[pld]
	if urls == nil {
		urls = map[uint64]string{}
		if t.claims == nil {
			t.claims = map[uint64]map[uint64]string{}
		}
		t.claims[pld] = urls
	}
	if _, taken := urls[url]; !taken {
		t.n++
	}
	urls[url] = claim
}

// free takes a URL from a claim, if it has it.
func (t *taken) free(pld, url uint64, claim string) {
	urls := t.claims[pld]
	if holder, taken := urls[url]; !taken || holder != claim {
		return
	}
	delete(urls, url)
	t.n--
	if len(urls) == 0 {
		delete(t.claims, pld)
	}
}

// claim is the claim that has a URL; empty if none has.
func (t *taken) claim(pld, url uint64) string { return t.claims[pld][url] }
