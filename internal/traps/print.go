package traps

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// The limits of prints.
const (
	// printBytes is how much text of a page its print is made of: of longer pages, the first part of each block.
	printBytes = 4 << 10
	// blockBytes is how much of a block counts at least.
	blockBytes = 40
	// linkShare is the share of a block that is anchor text in a block of links.
	linkShare = 0.8
	// near is in how many of 64 bits the prints of near-duplicates differ at most.
	near = 3
	// manyNumbers is how many numbers a page has at least of which they are the text: a timetable, the results of a season.
	manyNumbers = 20
)

// PrintOf returns the print of a page; nil if it has neither text nor links. The icon that a page does not name is none.
func PrintOf(p *crawl.Page) *crawl.Print {
	says := len(p.Blocks) > 0 || slices.ContainsFunc(p.Links, func(l crawl.Outlink) bool { return l.Context != crawl.ContextIcon })
	if !says || !strings.Contains(p.MIME, "html") {
		return nil
	}
	anchors := make([]int, len(p.Blocks)) // bytes
	out := &crawl.Print{}
	for i := range p.Links {
		l := &p.Links[i]
		if l.Context == crawl.ContextIcon {
			continue
		}
		if l.Hop == crawl.HopEmbed || l.Hop == crawl.HopSpeculative {
			out.Requisites += requisite(l.URL) // in any order
		} else if l.Block >= 0 && l.Block < len(anchors) {
			anchors[l.Block] += len(l.Anchor)
		}
	}
	size := 0
	for _, b := range p.Blocks {
		size += len(b)
	}
	most := max(size, blockBytes)
	if size > printBytes {
		most = max(printBytes/len(p.Blocks), blockBytes)
	}
	var own, numbers, links counts
	var shingles sketch
	own.numbers, own.shingles = &numbers, &shingles
	for i, b := range p.Blocks {
		to := &own
		if len(b) > 0 && float64(anchors[i]) >= linkShare*float64(len(b)) {
			to = &links
		}
		to.add(b[:min(len(b), most)])
	}
	if numbers.words >= manyNumbers && numbers.words > own.words { // a table of numbers says what it says by them
		own.join(&numbers)
	} else {
		out.Sketch = shingles.bytes()
	}
	out.OwnWords, out.Words = own.words, own.words+links.words
	out.Own = own.bits()
	links.join(&own)
	out.All = links.bits()
	return out
}

// requisite is the hash of the URL of what a page embeds, at whatever host: of its path, and of the arguments that name something. Others only see to it that
// it is not taken from a cache.
func requisite(url string) uint64 {
	_, rest, _ := strings.Cut(url, "://")
	path, query, _ := strings.Cut(rest[strings.IndexByte(rest, '/')+1:], "?")
	h := hash(path)
	for query != "" {
		var arg string
		arg, query, _ = strings.Cut(query, "&")
		name, value, _ := strings.Cut(arg, "=")
		if value != "" && len(value) <= longValue && !cacheNames[strings.ToLower(name)] && !machine(value) {
			h += mix(hash(arg))
		}
	}
	return h
}

// longValue is how long the value of an argument is at most that names a picture, in bytes: longer ones are times and random numbers.
const longValue = 8

// cacheNames are names of arguments that vary so that nothing is taken from a cache.
var cacheNames = map[string]bool{"_": true, "cb": true, "cachebuster": true, "nocache": true, "r": true, "rand": true, "random": true, "t": true, "time": true, "timestamp": true, "ts": true, "v": true, "ver": true, "version": true}

// alike reports whether two prints differ in few bits.
func alike(a, b uint64) bool { return bits.OnesCount64(a^b) <= near }

// counts are how many of the words' hashes have each bit. The last words are in planes: bit i of plane j is bit j of the count of
// bit i, so that a word is added to all 64 counts at once.
type counts struct {
	planes  [planes]uint64
	pending int
	sums    [64]int32
	words   int
	numbers *counts // nil: they are not counted

	shingles *sketch // nil: none
}

// sketch is made of the shingles of a text, three words in a row each: those with the least hashes. The same shingles get into the sketches of all texts that
// have them, or nearly.
type sketch struct {
	least [sketchSize]uint64 // in order
	n     int
}

// sketchSize is how many shingles of a page are remembered.
const sketchSize = 8

// insert takes in a shingle that is less than the last of them, or one of the first.
func (s *sketch) insert(shingle uint64) {
	at := 0
	for at < s.n && s.least[at] < shingle {
		at++
	}
	if at < s.n && s.least[at] == shingle {
		return
	}
	s.n = min(s.n+1, sketchSize)
	copy(s.least[at+1:s.n], s.least[at:])
	s.least[at] = shingle
}

// bound is what a shingle must be less than to be inserted.
func (s *sketch) bound() uint64 {
	if s.n < sketchSize {
		return math.MaxUint64
	}
	return s.least[sketchSize-1]
}

// bytes has two bytes of each shingle.
func (s *sketch) bytes() []byte {
	out := make([]byte, 0, 2*sketchSize)
	for _, shingle := range s.least[:s.n] {
		out = binary.BigEndian.AppendUint16(out, uint16(shingle))
	}
	return out
}

// planes bounds how many words are pending: fewer than 1 << planes.
const planes = 8

func (c *counts) word(h uint64) {
	c.words++
	for i := range c.planes {
		c.planes[i], h = c.planes[i]^h, c.planes[i]&h
		if h == 0 {
			break
		}
	}
	if c.pending++; c.pending == 1<<planes-1 {
		c.flush()
	}
}

func (c *counts) flush() {
	if c.pending == 0 {
		return
	}
	for j, plane := range c.planes {
		for ; plane != 0; plane &= plane - 1 {
			c.sums[bits.TrailingZeros64(plane)] += 1 << j
		}
	}
	c.planes, c.pending = [planes]uint64{}, 0
}

func (c *counts) join(more *counts) {
	more.flush()
	c.flush()
	c.words += more.words
	for i, n := range more.sums {
		c.sums[i] += n
	}
}

// bits has a bit for each that most words have; 0 of no word.
func (c *counts) bits() (out uint64) {
	c.flush()
	for i, n := range c.sums {
		if 2*int(n) > c.words {
			out |= 1 << i
		}
	}
	return out
}

// add adds the words of a text. A word with a digit is counted apart, if at all, and so are the names of months and days: they are what differs between the
// pages of a calendar, and of what else machines count.
func (c *counts) add(text string) {
	h, digit, from := uint64(offset), false, 0
	last, before, bound := uint64(0), uint64(0), uint64(0) // the words before, and what a shingle must be less than
	if c.shingles != nil {
		bound = c.shingles.bound()
	}
	for i := 0; i <= len(text); i++ {
		letter := byte(0)
		if i < len(text) {
			letter = letters[text[i]]
		}
		if letter == 0 {
			if digit && c.numbers != nil {
				c.numbers.word(mix(h))
			} else if i > from && !digit && !(i-from <= longName && calendarBits[h%4096/64]>>(h%64)&1 == 1 && calendar[h]) {
				h = mix(h)
				c.word(h)
				shingle := h ^ bits.RotateLeft64(last^bits.RotateLeft64(before, 21), 21)
				if before, last = last, h; shingle < bound {
					c.shingles.insert(shingle)
					bound = c.shingles.bound()
				}
			}
			h, digit, from = offset, false, i+1
			continue
		}
		digit = digit || letter <= '9'
		h = (h ^ uint64(letter)) * prime
	}
}

// letters has the bytes of words, in lower case; 0 for those between words.
var letters = func() (table [256]byte) {
	for i := range table {
		switch c := byte(i); {
		case c >= 'A' && c <= 'Z':
			table[i] = c + 'a' - 'A'
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 0x80:
			table[i] = c
		}
	}
	return table
}()

// FNV-1a of 64 bits. Memories hold such hashes: they must never change.
const (
	offset = 14695981039346656037
	prime  = 1099511628211
)

func hash(s string) uint64 {
	h := uint64(offset)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * prime
	}
	return h
}

// mix makes all bits depend on all others: the low ones of FNV depend on the last letters alone.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// longName is how long the longest of the names of calendar is, in bytes.
const longName = 10

// calendar has the hashes of the names of months and days.
var calendar = func() map[uint64]bool {
	m := map[uint64]bool{}
	for _, name := range strings.Fields(`
		january february march april may june july august september october november december
		jan feb mar apr jun jul aug sep sept oct nov dec
		monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun mo tu we th fr sa su
		januar jänner februar märz mai juni juli oktober dezember mrz okt dez montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag di mi do so
		janvier février mars avril juin juillet août septembre octobre novembre décembre lundi mardi mercredi jeudi vendredi samedi dimanche
		enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre lunes martes miércoles jueves viernes sábado domingo
		gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre lunedì martedì mercoledì giovedì venerdì sabato domenica`) {
		m[hash(name)] = true
	}
	return m
}()

// calendarBits has a bit for each hash of calendar: most words are not looked up there.
var calendarBits = func() (table [64]uint64) {
	for h := range calendar {
		table[h%4096/64] |= 1 << (h % 64)
	}
	return table
}()
