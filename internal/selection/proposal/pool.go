package proposal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/muninn-archive/muninn/internal/selection"
	"github.com/muninn-archive/muninn/internal/text"
)

// MaxPool bounds the candidates of a pool: they stay in memory, at about 5 KiB each while it is made.
const MaxPool = 100_000

// ErrFull says that a pool has no room for another candidate.
var ErrFull = errors.New("too many candidates")

// Pool are the candidates of a selection, one for each URL. It is never changed once it is made.
type Pool struct {
	Facts    []selection.Facts // in the order of URLs, without their texts
	settings Settings
	vectors  [][]term
	features int
	seed     uint32
}

// Builder makes a pool.
type Builder struct {
	Most   int // candidates; MaxPool if it was made by NewBuilder
	reader reader
	facts  []selection.Facts
	pages  []map[family]text.HashedVector
	texts  []bool // the candidate has a text
	at     map[string]int
}

// NewBuilder makes one without candidates.
func NewBuilder(s Settings) *Builder {
	return &Builder{Most: MaxPool, reader: reader{words: text.NewVocabulary(), settings: s}, at: map[string]int{}}
}

// Add takes a candidate in. Of several captures of a URL the one with the latest date counts, of those that have a text if any has. An
// error is ErrFull.
func (b *Builder) Add(f selection.Facts) error {
	i, known := b.at[f.URL]
	switch {
	case known && b.replaces(&f, i) < 0:
		return nil
	case !known && len(b.facts) >= b.Most:
		return fmt.Errorf("%w: more than %d", ErrFull, b.Most)
	case !known:
		i = len(b.facts)
		b.at[f.URL] = i
		b.facts, b.pages, b.texts = append(b.facts, selection.Facts{}), append(b.pages, nil), append(b.texts, false)
	}
	b.texts[i] = f.Text != ""
	b.pages[i] = b.reader.page(&f)
	b.facts[i] = f.Bare()
	return nil
}

// Retain leaves out the candidates that a function does not want. Their texts are not known any more.
func (b *Builder) Retain(wanted func(*selection.Facts) bool) {
	n := 0
	clear(b.at)
	for i := range b.facts {
		if !wanted(&b.facts[i]) {
			continue
		}
		b.facts[n], b.pages[n], b.texts[n] = b.facts[i], b.pages[i], b.texts[i]
		b.at[b.facts[n].URL] = n
		n++
	}
	clear(b.pages[n:])
	b.facts, b.pages, b.texts = b.facts[:n], b.pages[:n], b.texts[:n]
}

// replaces compares a capture with the one of its URL that counts so far: it does not take its place below 0.
func (b *Builder) replaces(f *selection.Facts, i int) int {
	text := 0
	if has := f.Text != ""; has && !b.texts[i] {
		text = 1
	} else if !has && b.texts[i] {
		text = -1
	}
	return cmp.Or(text, f.Date.Compare(b.facts[i].Date))
}

// Pool is that of the candidates so far. The builder is not used any more.
func (b *Builder) Pool() *Pool {
	order := make([]int, len(b.facts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(b.facts[i].URL, b.facts[j].URL) })
	having := map[uint32]float32{}
	for _, families := range b.pages {
		for _, v := range families {
			for _, x := range v {
				having[x.ID]++
			}
		}
	}
	p := &Pool{settings: b.reader.settings, features: 1} // 0 is the bias
	numbers := map[uint32]int32{}
	for _, i := range order {
		v := b.reader.weigh(b.pages[i], float64(len(b.facts)), having)
		terms := make([]term, 0, len(v))
		for _, x := range v {
			n, known := numbers[x.ID]
			if !known {
				n = int32(p.features)
				numbers[x.ID] = n
				p.features++
			}
			terms = append(terms, term{n, x.Weight})
		}
		slices.SortFunc(terms, func(a, b term) int { return cmp.Compare(a.id, b.id) })
		p.Facts, p.vectors = append(p.Facts, b.facts[i]), append(p.vectors, terms)
		b.pages[i] = nil
	}
	p.addTopics(p.settings.Topics, p.settings.Topic)
	return p
}

// Len is the number of candidates.
func (p *Pool) Len() int { return len(p.Facts) }

// Index is the number of a URL's candidate; false if there is none.
func (p *Pool) Index(url string) (int, bool) {
	return slices.BinarySearchFunc(p.Facts, url, func(f selection.Facts, url string) int { return cmp.Compare(f.URL, url) })
}

// cosine of two candidates: their vectors have length 1.
func (p *Pool) cosine(i, j int) (sum float64) {
	a, b := p.vectors[i], p.vectors[j]
	for x, y := 0, 0; x < len(a) && y < len(b); {
		switch {
		case a[x].id < b[y].id:
			x++
		case a[x].id > b[y].id:
			y++
		default:
			sum += float64(a[x].weight) * float64(b[y].weight)
			x, y = x+1, y+1
		}
	}
	return sum
}

// Settings are those that the pool was made with.
func (p *Pool) Settings() Settings { return p.settings }

// Seeded is the pool with another order of chance: what is asked first, before a model has learned anything, differs by the seed.
func (p *Pool) Seeded(seed uint64) *Pool {
	other := *p
	other.seed = uint32(seed * 0x9e3779b1)
	return &other
}

// CountAlike is how many candidates read like a print, without those that are closed.
func (p *Pool) CountAlike(print uint64, closed []bool) (n int) {
	for i := range p.Facts {
		if !closed[i] && selection.Alike(print, p.Facts[i].Print) {
			n++
		}
	}
	return n
}
