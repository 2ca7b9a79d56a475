package archive

import (
	"errors"
	"fmt"
	"slices"

	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
)

// frameBytes is the size up to which a frame takes further partitions, before compression, roughly. Smaller frames compress worse; of
// larger ones the owner of a partition reads more that is not its own. Links within a PLD are seldom read by another worker: where
// a partition is made again.
var frameBytes = [linkKinds]int{home: 1 << 20, away: 128 << 10}

// linksSidecar gathers the outlinks of a segment. It writes them when it is closed, by the partitions that they lead to: only then is it
// known which there are. The pages lie in memory until the segment is committed, for any caller.
type linksSidecar struct {
	sidecar
	writer linkWriter
	pages  []linkingPage
	owner  func(partition int) int // see Segment.LinksBy; nil: all are one's
	places places
	closed bool
}

// places are where hosts belong.
type places map[string]place

type place struct {
	pld       string
	partition int
}

// of is the place of a canonical URL.
func (p places) of(url string) place {
	host := urls.HostOf(url)
	at, known := p[host]
	if !known {
		pld := urls.PLD(host)
		at = place{pld, ring.PartitionOf(pld)}
		p[host] = at
	}
	return at
}

func (s *linksSidecar) add(p linkingPage) { s.pages = append(s.pages, p) }

// close writes the frames and the footer. It may be called again.
func (s *linksSidecar) close() error {
	if s.closed {
		return nil
	}
	s.writer = linkWriter{words: map[string]int{}, blocks: map[int]bool{}}
	s.places = places{}
	frames := s.divide()
	footer := linksFooter{Version: footerVersion}
	if len(frames[away]) > 0 {
		s.zip.Reset(&s.out)
		s.line = s.writer.appendSources(s.line[:0], s.pages)
		if err := errors.Join(s.put(), s.zip.Close()); err != nil {
			return fmt.Errorf("write links: %w", err)
		}
		footer.Sources = s.out.Len()
	}
	for kind := range frames {
		for _, f := range frames[kind] {
			if err := s.write(&footer, kind, f); err != nil {
				return err
			}
		}
	}
	s.out.Write(footer.encode())
	s.closed, s.pages = true, nil
	return nil
}

// linkFrame are the links to some partitions, in the order of pages.
type linkFrame struct {
	partitions []int
	owner      int
	size       int // roughly, before compression
	n          int
	links      []outlink
}

// kinds of links.
const (
	home = iota // within the PLD of their page
	away
	linkKinds
)

// inOrder are the partitions in the order in which frames of a kind take them, and the owner of each. Links to other PLDs stand by owners: each
// reads its frames alone.
func (s *linksSidecar) inOrder(kind int) (order [ring.Partitions]int, owners [ring.Partitions]int) {
	for p := range order {
		order[p] = p
	}
	if kind == home || s.owner == nil {
		return order, owners
	}
	for p := range owners {
		owners[p] = s.owner(p)
	}
	slices.SortStableFunc(order[:], func(a, b int) int { return owners[a] - owners[b] })
	return order, owners
}

// divide divides the links among frames by what they are, and by their partitions: in ascending order, of one owner after the other. A
// partition is in one frame of each kind.
func (s *linksSidecar) divide() (frames [linkKinds][]linkFrame) {
	slots := make([]uint16, 0, len(s.pages)*32) // of each link: kind and partition
	var parts [linkKinds * ring.Partitions]struct{ size, n, frame int }
	for i := range s.pages {
		p := &s.pages[i]
		from := s.places.of(p.url)
		for j := range p.Links {
			l, kind := &p.Links[j], home
			to := s.places.of(l.URL)
			if to.pld != from.pld {
				kind = away
			}
			slot := kind*ring.Partitions + to.partition
			slots = append(slots, uint16(slot))
			parts[slot].size += linkBytes + len(l.URL) + len(l.Anchor)
			parts[slot].n++
		}
	}
	for kind := range frames {
		of := &frames[kind]
		order, owners := s.inOrder(kind)
		for _, partition := range order {
			p := &parts[kind*ring.Partitions+partition]
			if p.n == 0 {
				continue
			}
			if last := len(*of) - 1; last < 0 || (*of)[last].size+p.size > frameBytes[kind] || (*of)[last].owner != owners[partition] {
				*of = append(*of, linkFrame{owner: owners[partition]})
			}
			p.frame = len(*of) - 1
			f := &(*of)[p.frame]
			f.partitions, f.size, f.n = append(f.partitions, partition), f.size+p.size, f.n+p.n
		}
	}
	room := make([]outlink, len(slots))
	for kind := range frames {
		for i := range frames[kind] {
			f := &frames[kind][i]
			f.links, room = room[:0:f.n], room[f.n:]
		}
	}
	for i := range s.pages {
		p := &s.pages[i]
		for j := range p.Links {
			kind := int(slots[0]) / ring.Partitions
			f := &frames[kind][parts[slots[0]].frame]
			f.links = append(f.links, outlink{i, kind == away, &p.Links[j], &p.Verdict.Links[j]})
			slots = slots[1:]
		}
	}
	return frames
}

// linkBytes is what a link takes in a line beside its texts, roughly.
const linkBytes = 50

// write writes a frame, and notes it in the footer. Links of a page to its own PLD have a line of their own.
func (s *linksSidecar) write(footer *linksFooter, kind int, f linkFrame) error {
	start := s.out.Len()
	s.zip.Reset(&s.out)
	for links := f.links; len(links) > 0; {
		n := len(links)
		if kind == away {
			s.line = s.writer.appendAway(s.line[:0], s.pages, links)
		} else {
			for n = 1; n < len(links) && links[n].page == links[0].page; {
				n++
			}
			s.line = s.writer.appendHome(s.line[:0], &s.pages[links[0].page], links[:n])
		}
		links = links[n:]
		if err := s.put(); err != nil {
			return fmt.Errorf("write links: %w", err)
		}
	}
	if err := s.zip.Close(); err != nil {
		return fmt.Errorf("write links: %w", err)
	}
	footer.Frames = append(footer.Frames, linksFrame{s.out.Len() - start, len(f.links), f.partitions})
	return nil
}
