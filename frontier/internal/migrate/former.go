package migrate

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// The kinds of format 1 that have another form now. No kind of format 2 has their letters.
const (
	formerRecords  store.Kind = 'r' // id, PLD, URL → record
	formerClaims   store.Kind = 'c' // id, claim
	formerReleases store.Kind = 'l' // id, claim
	formerDelays   store.Kind = 'w' // id, time, PLD, URL
	formerDigests  store.Kind = 'd' // id, payload digest → original
	formerSites    store.Kind = 'g' // id, hash of the host
)

var errKey = errors.New("a key of format 1 cannot be read")

// head is the length of a key's kind and crawl ID.
const head = 3

// crawlOf is the crawl that a key is of.
func crawlOf(key store.Key) store.Keys { return store.Keys(binary.BigEndian.Uint16(key[1:])) }

// formerKey is the key of a kind and a crawl that format 1 has for numbers.
func formerKey(kind store.Kind, k store.Keys, numbers ...uint64) store.Key {
	key := k.All(kind)
	for _, n := range numbers {
		key = binary.BigEndian.AppendUint64(key, n)
	}
	return key
}

// numbers reads what stands behind the crawl's ID in a key.
func numbers(key store.Key, n int) (list []uint64, err error) {
	if len(key) != head+8*n {
		return nil, errKey
	}
	for at := head; at < len(key); at += 8 {
		list = append(list, binary.BigEndian.Uint64(key[at:]))
	}
	return list, nil
}

// step moves the entries of one kind: present is what becomes of an entry.
type step struct {
	kind    store.Kind
	present func(m *moved, key store.Key, value []byte) error
}

// steps are the kinds in the order in which they are moved. Sites come after the records that say which PLD their host is of: those
// that are left then are of hosts that the crawl has no URL of.
var steps = []step{
	{formerClaims, func(m *moved, key store.Key, value []byte) error {
		m.set(crawlOf(key).Claim(string(key[head:])), value)
		return nil
	}},
	{formerReleases, func(m *moved, key store.Key, value []byte) error {
		m.set(crawlOf(key).Release(string(key[head:])), value)
		return nil
	}},
	{formerDelays, func(m *moved, key store.Key, _ []byte) error {
		n, err := numbers(key, 3)
		if err == nil {
			m.set(crawlOf(key).Delay(int64(n[0]), record.Key{PLD: n[1], URL: n[2]}), nil)
		}
		return err
	}},
	{formerDigests, moveDigest},
	{formerRecords, moveRecord},
	{formerSites, func(*moved, store.Key, []byte) error { return nil }},
}

// moveDigest gives a digest to the PLD of its original.
func moveDigest(m *moved, key store.Key, value []byte) error {
	var original crawl.Visit
	if err := codec.Unmarshal(value, &original); err != nil {
		return err
	}
	u, err := urls.Trusted(original.URL)
	if err != nil {
		return nil // no page is compared with it
	}
	archive, digest := record.SplitDigest(string(key[head:]))
	m.set(crawlOf(key).Digest(record.KeyOf(u).PLD, archive, digest), value)
	return nil
}

// moveRecord writes the URL of the page that a URL was found on in place of its key, and moves what was learned of the URL's host.
func moveRecord(m *moved, key store.Key, value []byte) error {
	n, err := numbers(key, 2)
	if err != nil {
		return err
	}
	k := crawlOf(key)
	r, via, err := record.DecodeFormer(value)
	if err != nil {
		return err
	}
	if via != (record.Key{}) {
		if r.Via, err = m.urlOf(k, via); err != nil {
			return err
		}
	}
	m.set(k.Record(record.Key{PLD: n[0], URL: n[1]}), r.Encode())
	return m.moveSite(k, n[0], urls.HostOf(r.URL))
}

// urlOf is the URL of a record, moved or not; empty if there is none.
func (m *moved) urlOf(k store.Keys, of record.Key) (url string, err error) {
	at := page{k, of}
	if url, known := m.pages[at]; known {
		return url, nil
	}
	if len(m.pages) >= maxPages {
		clear(m.pages)
	}
	found, err := m.Get(formerKey(formerRecords, k, of.PLD, of.URL), func(value []byte) error {
		r, _, err := record.DecodeFormer(value)
		url = r.URL
		return err
	})
	if err == nil && !found {
		var r record.Record
		r, _, err = m.Record(k.Record(of))
		url = r.URL
	}
	m.pages[at] = url
	return url, err
}

// moveSite moves what was learned of a host of a PLD, if it was not moved with another URL of the host.
func (m *moved) moveSite(k store.Keys, pld uint64, name string) error {
	at := host{k, name}
	if m.hosts[at] {
		return nil
	}
	if len(m.hosts) >= maxPages {
		clear(m.hosts)
	}
	m.hosts[at] = true
	former := formerKey(formerSites, k, xxhash.Sum64String(name))
	_, err := m.Get(former, func(value []byte) error {
		m.set(k.Site(pld, name), value)
		m.deleted = append(m.deleted, former)
		return nil
	})
	return err
}
