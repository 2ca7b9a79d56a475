package bleve

import (
	"context"
	"fmt"
	"math/bits"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	"golang.org/x/sync/semaphore"
)

// table has the values of the documents of a unit that are read for each match: of all documents, or of some, one after the other.
type table struct {
	whole         bool // a row is the number of a document; else its place among those that were asked for
	orders        []order
	byURL         []uint32 // of a table of all: the numbers of documents by the first bits of the hashes of their URLs,
	first         []uint32 // the place in byURL where those with given first bits begin,
	shift         int      // and the number of the bits behind those
	keys, domains column
	targets       []uint64 // of anchor texts: the hashes of the URLs that they lead to
}

// column has a value for each row, by its number among those that are different. Number 0 is no value.
type column struct {
	of     []uint32
	values []string
	total  []int // rows with each value
}

func (t *table) row(doc uint32, at int) int {
	if t.whole {
		return int(doc)
	}
	return at
}

// of calls fn with the documents of a URL, in a table of all.
func (t *table) of(url uint64, fn func(doc uint32)) {
	bucket := url >> t.shift
	for _, doc := range t.byURL[t.first[bucket]:t.first[bucket+1]] {
		if t.orders[doc].url == url {
			fn(doc)
		}
	}
}

// sort fills byURL and first.
func (t *table) sort() {
	size := bits.Len(uint(len(t.orders))) // logarithm of the number of buckets: about one for each document
	t.shift = urlBits - size
	t.first = make([]uint32, 1<<size+1)
	for i := range t.orders {
		t.first[t.orders[i].url>>t.shift]++
	}
	sum := uint32(0)
	for i, n := range t.first {
		sum += n
		t.first[i] = sum // the end of the bucket, until its documents have their places
	}
	t.byURL = make([]uint32, len(t.orders))
	for i := range t.orders {
		bucket := t.orders[i].url >> t.shift
		t.first[bucket]--
		t.byURL[t.first[bucket]] = uint32(i)
	}
}

// The bytes of a row, of one of anchor texts, and of a value that is different, beside its text.
const (
	rowBytes    = 52
	targetBytes = 8
	valueBytes  = 64
)

func (t *table) bytes() int64 {
	n := int64(rowBytes*len(t.orders) + targetBytes*len(t.targets))
	for _, c := range []*column{&t.keys, &t.domains} {
		for _, v := range c.values {
			n += int64(len(v)) + valueBytes
		}
	}
	return n
}

// maxColumns bounds the memory of the tables that an index keeps, in bytes: 52 for a document and 8 for an anchor text. What has no place is
// read from the segment by each search.
const maxColumns = 256 << 20

// someOf is the part of a unit, 1/someOf, up to which values are read for searches alone, of all of them together, while there is no table: to read all would
// take longer than a search.
const someOf = 16

// columns keeps the tables of units. Those of units that are gone make place.
type columns struct {
	mu    sync.Mutex
	bytes int64
	kept  map[unitKey]*keptTable
	asked map[unitKey]uint64 // documents whose values were read of units without a table

	passing *semaphore.Weighted
}

// unitKey names a unit: numbers of segments are never used again while a part is open.
type unitKey struct {
	part *part
	id   uint64
}

type keptTable struct {
	once  sync.Once
	table *table // nil until it is read
	bytes int64
	err   error
}

func newColumns() *columns {
	return &columns{kept: map[unitKey]*keptTable{}, asked: map[unitKey]uint64{}, passing: semaphore.NewWeighted(maxPassing)}
}

// maxPassing bounds the memory of the tables that are read for one search alone, of all searches together, in bytes. Others wait.
const maxPassing = 64 << 20

// of is a table with the values of some documents of a unit. Who does not need it any more calls done, and asks for no other before.
func (c *columns) of(ctx context.Context, u *unit, docs *roaring.Bitmap) (t *table, done func(), err error) {
	key := unitKey{u.part, u.id}
	each := int64(rowBytes)
	if u.anchors {
		each = targetBytes
	}
	estimate := int64(u.size()) * each
	c.mu.Lock()
	k := c.kept[key]
	if k == nil {
		c.asked[key] += docs.GetCardinality()
	}
	if k == nil && c.asked[key]*someOf >= uint64(u.size()) && c.bytes+estimate <= maxColumns {
		k = &keptTable{bytes: estimate}
		c.kept[key] = k
		c.bytes += estimate
	}
	c.mu.Unlock()
	if k != nil {
		k.once.Do(func() { c.fill(key, k, u) })
		if k.err == nil && k.table != nil {
			return k.table, func() {}, nil
		}
	}
	size := min(int64(docs.GetCardinality())*each, maxPassing)
	if err := c.passing.Acquire(ctx, size); err != nil {
		return nil, nil, err
	}
	if t, err = readTable(ctx, u, docs, false); err != nil {
		c.passing.Release(size)
		return nil, nil, err
	}
	return t, func() { c.passing.Release(size) }, nil
}

// fill reads a table that is kept. It does not stop with the search that came first, because others wait for it.
func (c *columns) fill(key unitKey, k *keptTable, u *unit) {
	all := roaring.New()
	all.AddRange(0, uint64(u.size()))
	k.table, k.err = readTable(context.Background(), u, all, true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[key] != k { // gone in the meantime
		return
	}
	c.bytes -= k.bytes
	if k.bytes = 0; k.err != nil {
		delete(c.kept, key)
		return
	}
	k.bytes = k.table.bytes()
	c.bytes += k.bytes
}

// keep forgets tables of the parts of some units, but for those of the units themselves.
func (c *columns) keep(units []*unit) {
	parts, there := map[*part]bool{}, map[unitKey]bool{}
	for _, u := range units {
		parts[u.part] = true
		there[unitKey{u.part, u.id}] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, k := range c.kept {
		if parts[key.part] && !there[key] {
			c.bytes -= k.bytes
			delete(c.kept, key)
		}
	}
	for key := range c.asked {
		if parts[key.part] && !there[key] {
			delete(c.asked, key)
		}
	}
}

func readTable(ctx context.Context, u *unit, docs *roaring.Bitmap, whole bool) (*table, error) {
	visitable, ok := u.segment.(segment.DocValueVisitable)
	if !ok {
		return nil, fmt.Errorf("a segment of the index has no values: it is a %T", u.segment)
	}
	n := int(docs.GetCardinality())
	t := &table{whole: whole}
	fields := []string{fieldTarget}
	var keys, domains interner
	if u.anchors {
		t.targets = make([]uint64, n)
	} else {
		fields = []string{fieldOrder, fieldKey, fieldSite}
		t.orders = make([]order, n)
		keys, domains = newInterner(n), newInterner(n)
	}
	row, found := 0, false
	visit := func(field string, value []byte) {
		switch field {
		case fieldOrder:
			t.orders[row], found = decodeOrder(value)
		case fieldKey:
			keys.add(row, value)
		case fieldSite:
			domains.add(row, value)
		case fieldTarget:
			t.targets[row], found = parseTarget(value), true
		}
	}
	var state segment.DocVisitState
	var failed error
	err := each(ctx, docs, func(doc uint32, at int) {
		if failed != nil {
			return
		}
		row, found = at, false
		if state, failed = visitable.VisitDocValues(uint64(doc), fields, visit, state); failed == nil && !found && (u.deleted == nil || !u.deleted.Contains(doc)) {
			failed = fmt.Errorf("a document of the index has no order: delete the index, and fill it again")
		}
	})
	if err == nil {
		err = failed
	}
	t.keys, t.domains = keys.column, domains.column
	if whole {
		t.sort()
	}
	return t, err
}

// interner fills a column.
type interner struct {
	column
	known map[string]uint32
}

func newInterner(rows int) interner {
	return interner{column{make([]uint32, rows), []string{""}, []int{0}}, map[string]uint32{}}
}

func (i *interner) add(row int, value []byte) {
	n, known := i.known[string(value)]
	if !known {
		n = uint32(len(i.values))
		text := string(value)
		i.known[text] = n
		i.values = append(i.values, text)
		i.total = append(i.total, 0)
	}
	i.of[row] = n
	i.total[n]++
}
