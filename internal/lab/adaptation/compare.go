package adaptation

import (
	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/lab/text"
)

// thing is an object with a text, by hashes.
type thing struct {
	body  uint64
	words []string
	parts map[string]uint64
}

func things(objects []crawl.Object) (list []thing) {
	for _, o := range objects {
		body := o.Properties.Get("body")
		if body == "" {
			continue
		}
		t := thing{body: adapt.Hash(body), words: text.Tokens(body), parts: map[string]uint64{}}
		for _, name := range []string{"author", "published", "title"} {
			if v := o.Properties.Get(name); v != "" {
				t.parts[name] = adapt.Hash(v)
			}
		}
		list = append(list, t)
	}
	return list
}

// compare counts how much of the truth was extracted.
func compare(truth, extracted []thing) (s Score) {
	s.Pages, s.Truth, s.Extracted = 1, len(truth), len(extracted)
	left := map[uint64][]thing{}
	for _, t := range truth {
		left[t.body] = append(left[t.body], t)
		s.Parts += len(t.parts)
	}
	for _, l := range extracted {
		same := left[l.body]
		if len(same) == 0 {
			continue
		}
		s.Right++
		for name, hash := range same[0].parts {
			if l.parts[name] == hash {
				s.PartsOK++
			}
		}
		left[l.body] = same[1:]
	}
	s.Near = s.Right + countNear(left, extracted, truth)
	return s
}

// nearText is the F1 measure of the words of two texts from which on they count as nearly the same.
const nearText = 0.98

// countNear counts the extracted texts that are none of the truth, and nearly one that is left of it, in the order of the page.
func countNear(left map[uint64][]thing, extracted, truth []thing) (n int) {
	exact := map[uint64]bool{}
	for _, t := range truth {
		exact[t.body] = true
	}
	for _, l := range extracted {
		if exact[l.body] {
			continue
		}
		for _, t := range truth {
			if len(left[t.body]) > 0 && text.Compare(t.words, l.words).F1 >= nearText {
				left[t.body] = left[t.body][1:]
				n++
				break
			}
		}
	}
	return n
}
