package frontier

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
)

// Place is where a crawl's archive lies.
type Place struct {
	Where  string `json:"where" cbor:"1,keyasint"`            // the store: a folder, or s3://bucket/prefix
	Prefix string `json:"prefix,omitempty" cbor:"2,keyasint"` // put before every key
}

func (p Place) String() string {
	if p.Prefix == "" {
		return p.Where
	}
	return strings.TrimSuffix(p.Where, "/") + "/" + p.Prefix
}

// Life is one life of a batch: from the time its claims are bound to it until they are committed or given back. A
// batch that is run again after a give-back has another life.
type Life struct {
	Nonce   string // no other life has it, of whatever frontier; empty for batches that were started before there were nonces
	Archive int    // number of the archive that the batch goes to, for Original and Commit
	Place   Place  // where that archive lies
	Opened  bool   // Reopen has been called: there may be more of the batch than its claims
}

// Life returns the present life of a batch; ErrNoBatch if it has none.
func (h Batch) Life() (Life, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		return Life{}, err
	}
	if l, lives := s.claims.Life(h.id); lives {
		return Life{l.Nonce, l.Archive, s.place(l.Archive), l.Opened}, nil
	}
	return Life{}, fmt.Errorf("%w: %s", ErrNoBatch, h.id)
}

// NewLife begins another life of a batch whose present one can leave no segment, because the key of its manifest is taken. The batch keeps its claims, with their leases, and its archive:
// what it has fetched may refer to captures there. Nothing is counted. A batch without claims begins another life when it is opened (Reopen).
func (h Batch) NewLife() error {
	nonce := newNonce(true)
	return h.update(func(s *state, tx *transaction) (func(), error) {
		var ch claims.Change
		h.f.mu.Lock()
		for _, c := range s.claims.OfBatch(h.id) {
			again := *c
			again.Nonce = nonce
			ch.Claims = append(ch.Claims, again)
		}
		h.f.mu.Unlock()
		return h.f.saveClaims(tx, s, ch)
	})
}

// newLife is a life of a batch that nothing has been archived of; Frontier.mu is held.
func (s *state) newLife(nonce string) claims.Life {
	return claims.Life{Nonce: nonce, Archive: s.Archive}
}

// againDigit is the first digit of the nonce of a life that is not the first one of its batch.
const againDigit = 'f'

// newNonce returns 60 random bits, behind a digit that says whether the batch had a life before. Nonces of versions that did not say it are random: one of sixteen seems to be of a later life.
func newNonce(again bool) string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	nonce := []byte(hex.EncodeToString(b))
	switch {
	case again:
		nonce[0] = againDigit
	case nonce[0] == againDigit:
		nonce[0] = '0'
	}
	return string(nonce)
}

// LivedBefore reports whether the nonce is of a life of a batch that had one before, which was given back: an operator has reset the batch. The watermark of its worker may have passed the
// batch in between, so a watermark does not say whether a partition has what this life has found.
func LivedBefore(nonce string) bool { return nonce != "" && nonce[0] == againDigit }

// UseArchive says where the batches go that are started from now on, and returns the number of that archive. What
// earlier captures left in another archive — payload digests, validators — is used by the batches of that one alone: no
// revisit refers to a record of another archive. former is the archive in force before, if it is another.
func (h Crawl) UseArchive(to Place) (number int, former *Place, err error) {
	h.f.mu.Lock()
	s, err := h.f.get(h.crawl)
	same := err == nil && len(s.Archives) > 0 && s.place(s.Archive) == to
	if same {
		number = s.Archive
	}
	h.f.mu.Unlock()
	if same || err != nil {
		return number, nil, err
	}
	err = h.update(func(s *state, tx *transaction) (func(), error) {
		rec := h.f.draft(tx, s)
		former = nil
		if len(rec.Archives) > 0 {
			was := rec.Archives[rec.Archive]
			former = &was
		}
		if number = slices.Index(rec.Archives, to); number < 0 {
			number, rec.Archives = len(rec.Archives), append(slices.Clip(rec.Archives), to)
		}
		rec.Archive, rec.planned = number, true
		return nil, nil
	})
	return number, former, err
}

// place returns where an archive lies; Frontier.mu is held.
func (s *state) place(number int) Place {
	if number >= len(s.Archives) {
		return Place{}
	}
	return s.Archives[number]
}
