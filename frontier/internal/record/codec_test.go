package record

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/internal/crawl"
)

func same(a, b Record) bool { // floats by their bits: NaN is not itself
	return bytes.Equal(a.Encode(), b.Encode())
}

func FuzzRecord(f *testing.F) {
	for _, r := range []Record{
		{},
		{State: Waiting, Run: 3, Position: queue.Position{Priority: 7, Counter: math.MaxUint64}, URL: "http://a.example/", Path: "SLE"},
		{State: Delayed, Due: -5, Attempts: 255, Via: "http://a.example/from", Scores: Scores{Count: 2, Sum: 1.5, Max: 1, First: .5, Last: 1}},
		{State: Done, Run: math.MaxUint32, URL: strings.Repeat("u", 2083), Visit: crawl.Visit{ETag: "e", LastModified: "l", Digest: "d", URL: "u", Date: time.Unix(1e9, 0)}},
		{State: Failed, Visit: crawl.Visit{Digest: "d"}}, {State: Refused},
		{State: Waiting, URL: "http://a.example/x/y", Via: "http://a.example/x/"}, {State: Waiting, URL: "http://a.example/", Via: "http://a.example/x"},
		{State: Waiting, URL: "https://www.a.example/", Via: "http://a.example/"}, {State: Waiting, URL: "gopher://a.example/"}, {State: Waiting, URL: "http://www.a.example/"},
		{State: Waiting, URL: "http://a.example/", Via: "http://a.example/"}, {State: Waiting, Scores: Scores{Count: 1, Sum: .5, Max: .5, First: .5, Last: .5}},
		{State: Done, End: Absent}, {State: Done, Recheck: Recheck{Interval: 86_400, Asked: 1e9}}, {State: Done, Archive: 12, Visit: crawl.Visit{Digest: "sha1:A"}}, {State: Done, Visit: crawl.Visit{Digest: "sha1:A", Shown: math.MaxUint64}}, {State: Done, Archive: 12, Visit: crawl.Visit{Digest: "sha1:A", Shown: 1}}, {State: Done, Visit: crawl.Visit{Digest: "7 sha1:A"}},
		{State: Done, Visit: crawl.Visit{Digest: "sha1:A", Partial: true}}, {State: Done, Archive: 12, Visit: crawl.Visit{Digest: "sha1:A", Partial: true, Shown: 1}},
	} {
		f.Add(r.Encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Decode(r.Encode())
		if err != nil || !same(r, again) {
			t.Fatalf("%+v became %+v, %v", r, again, err)
		}
	})
}

func FuzzRecordFields(f *testing.F) {
	f.Add(byte(1), uint32(2), byte(3), uint16(4), uint64(5), int64(-6), uint32(7), float32(0.5), uint64(9), "SL", "http://a.example/", "http://a.example/from", "etag", int64(1e9))
	f.Fuzz(func(t *testing.T, state byte, run uint32, attempts byte, priority uint16, counter uint64, due int64, count uint32, score float32, one uint64, path, url, via, etag string, date int64) {
		archive := int(count % 5)
		r := Record{
			State: State(state&3 + 1), Run: run, Attempts: attempts, Scores: Scores{Count: count, Sum: score, Max: score, First: -score, Last: score / 3},
			Via: via, Archive: archive, Path: path, URL: url, Visit: crawl.Visit{ETag: etag, Digest: url, Date: time.Unix(date, 0).UTC()},
		}
		if one%2 == 0 { // as the scores of a single link are
			r.Scores = Scores{Count: count, Sum: score, Max: score, First: score, Last: score}
		}
		switch r.State {
		case Waiting:
			r.Position = queue.Position{Priority: priority, Counter: counter}
		case Delayed:
			r.Due = due
		}
		b := r.Encode()
		got, err := Decode(b)
		if err != nil || !same(r, got) || got.URL != url || got.Path != path || got.Via != via || math.Float32bits(got.Scores.Last) != math.Float32bits(r.Scores.Last) || got.Scores.Count != count || got.Visit != r.Visit || got.Archive != archive || got.Position != r.Position || got.Due != r.Due || got.Visit.Date.Unix() != date {
			t.Fatalf("%+v became %+v, %v", r, got, err)
		}
		for n := range b { // what is cut off is an error, never guessed
			if _, err := Decode(b[:n]); err == nil {
				t.Fatalf("%d of %d bytes were taken for a record", n, len(b))
			}
		}
	})
}

// TestVisitIsKept: what is known of a visit beside its digest is read again.
func TestVisitIsKept(t *testing.T) {
	for _, archive := range []int{0, 7} {
		for _, shown := range []uint64{0, 1, math.MaxUint64} {
			for _, partial := range []bool{false, true} {
				r := Record{State: Done, Archive: archive, URL: "http://a.example/", Visit: crawl.Visit{Digest: "sha1:A", Shown: shown, Partial: partial, Date: time.Unix(1e9, 0).UTC()}}
				if got, err := Decode(r.Encode()); err != nil || got.Visit != r.Visit || got.Archive != archive {
					t.Errorf("%+v of archive %d became %+v of %d, %v", r.Visit, archive, got.Visit, got.Archive, err)
				}
			}
		}
	}
}

// TestRecheckIsKept: the interval stands behind a record of earlier versions, whose form is that of a record without it.
func TestRecheckIsKept(t *testing.T) {
	r := Record{State: Done, Run: 3, URL: "http://a.example/", Visit: crawl.Visit{Digest: "d", Date: time.Unix(1e9, 0).UTC()}}
	plain := r.Encode()
	r.Recheck = Recheck{Interval: 86_400, Asked: 1_700_000_000}
	b := r.Encode()
	if got, err := Decode(b); err != nil || got.Recheck != r.Recheck || !bytes.HasPrefix(b, plain) {
		t.Errorf("%+v, %v", got.Recheck, err)
	}
	for n := len(plain) + 1; n < len(b); n++ {
		if _, err := Decode(b[:n]); err == nil {
			t.Errorf("%d of %d bytes were taken for a record", n, len(b))
		}
	}
	if got, err := Decode(plain); err != nil || got.Recheck != (Recheck{}) {
		t.Errorf("without: %+v, %v", got.Recheck, err)
	}
}

func TestUpdateFunctions(t *testing.T) {
	var nothing Scores
	var a Scores
	for _, s := range []float64{0.5, 0.25, 0.75, 0.5} {
		a.Add(s)
	}
	for update, want := range map[string]float64{
		crawl.UpdateFirst: 0.5, crawl.UpdateLast: 0.5, crawl.UpdateAvg: 0.5, crawl.UpdateMax: 0.75, crawl.UpdateSum: 2,
	} {
		if got := a.Value(update); got != want {
			t.Errorf("%s gives %v, not %v", update, got, want)
		}
		if got := nothing.Value(update); got != 0 {
			t.Errorf("%s of nothing gives %v", update, got)
		}
	}
	a.Add(-1)
	if a.Max != 0.75 || a.Last != -1 || a.First != 0.5 || a.Count != 5 {
		t.Errorf("%+v", a)
	}
}

func FuzzRecordFeatures(f *testing.F) {
	f.Add(byte(0), []byte("features"), float32(0.5), []byte{1, 2}, 3)
	f.Fuzz(func(t *testing.T, state byte, keep []byte, at float32, parts []byte, group int) {
		r := Record{State: State(state%5 + 1), Features: keep, FeaturesScore: at, Parts: parts, Group: max(group, 0), URL: "http://a.example/"}
		if len(keep) == 0 {
			r.FeaturesScore = 0 // it is the score of the link that something was kept with
		}
		got, err := Decode(r.Encode())
		if err != nil || !same(r, got) || string(got.Features) != string(keep) || string(got.Parts) != string(parts) || math.Float32bits(got.FeaturesScore) != math.Float32bits(r.FeaturesScore) || got.Group != r.Group {
			t.Fatalf("%+v became %+v, %v", r, got, err)
		}
	})
}

// TestRecordFeatures: a record has the features of its link and the parts of the score. Both are read again, alone and together with
// all other fields.
func TestRecordFeatures(t *testing.T) {
	parts := crawl.Parts{{Name: crawl.PartNames[0], Score: 0.25}, {Name: crawl.PartNames[len(crawl.PartNames)-1], Score: 1}}.Encode()
	for _, r := range []Record{
		{State: Waiting, Features: []byte{1}, FeaturesScore: 0.1},
		{State: Waiting, Parts: parts},
		{State: Delayed, Due: 7, Features: make([]byte, 300), FeaturesScore: -1, Parts: parts},
		{State: Done, Parts: parts, Group: 300, Visit: crawl.Visit{Digest: "d", Date: time.Unix(1e9, 0).UTC()}},
		{State: Refused, Features: []byte("k"), FeaturesScore: float32(math.Inf(1)), Parts: parts, Group: 1, URL: "http://a.example/", Path: "SL", Visit: crawl.Visit{Digest: "d", Date: time.Unix(1e9, 0).UTC()}},
		{State: Failed},
	} {
		raw := r.Encode()
		got, err := Decode(raw)
		if err != nil || string(got.Features) != string(r.Features) || got.FeaturesScore != r.FeaturesScore || string(got.Parts) != string(r.Parts) || got.State != r.State || got.Group != r.Group || got.Visit != r.Visit || got.URL != r.URL {
			t.Errorf("%+v became %+v, %v", r, got, err)
		}
		for n := range raw { // what is cut off is an error, never guessed
			if _, err := Decode(raw[:n]); err == nil {
				t.Errorf("%d of %d bytes were taken for a record", n, len(raw))
			}
		}
		clear(raw) // the store's, which takes it back
		if string(got.Features) != string(r.Features) || string(got.Parts) != string(r.Parts) {
			t.Error("a record rests on bytes of the store")
		}
	}
}

// TestWhichLinkCounts: the update function decides which link's features a record has: the first, the last, or the best (the first
// among equals). For orders that learn, it also has those of the best of the other links.
func TestWhichLinkCounts(t *testing.T) {
	scores := []float64{0.25, 0.75, 0.75, 0.5}
	for update, both := range map[string]string{
		crawl.UpdateFirst: "ab", crawl.UpdateLast: "db", crawl.UpdateMax: "bc", crawl.UpdateAvg: "bc", crawl.UpdateSum: "bc",
	} {
		want := int(both[0] - 'a')
		var rec, one Record
		for i, score := range scores {
			l := Link{Score: score, Features: []byte{byte('a' + i)}, Parts: crawl.Parts{{Name: crawl.PartNames[i], Score: 1}}.Encode()}
			rec.Add(l, update, true)
			one.Add(l, update, false)
		}
		first := both[:1]
		if parts := crawl.DecodeParts(rec.Parts); string(rec.Features) != first || float64(rec.FeaturesScore) != scores[want] || len(parts) != 1 || parts[0].Name != crawl.PartNames[want] || int(rec.Scores.Count) != len(scores) {
			t.Errorf("%s: features %q at %v, parts %v", update, rec.Features, rec.FeaturesScore, parts)
		}
		if string(rec.OtherFeatures) != both[1:] || float64(rec.OtherScore) != scores[both[1]-'a'] || len(rec.LinkFeatures()) != 2 || len(one.LinkFeatures()) != 1 || string(one.Features) != first {
			t.Errorf("%s: beside it %q at %v; without the other %q", update, rec.OtherFeatures, rec.OtherScore, one.LinkFeatures())
		}
		rec.State, rec.URL = Waiting, "http://a.example/x"
		if again, err := Decode(rec.Encode()); err != nil || string(again.Features)+string(again.OtherFeatures) != both || again.OtherScore != rec.OtherScore {
			t.Errorf("%s: read again %q and %q, %v", update, again.Features, again.OtherFeatures, err)
		}
	}
	var none Record
	none.Add(Link{Score: -1, Features: []byte("a")}, crawl.UpdateMax, true)
	if string(none.Features) != "a" {
		t.Error("the only link does not count as its score is below 0")
	}
}
