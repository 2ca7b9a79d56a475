package selecting

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/selection"
)

// synthetic has n pages, one in ten of which is a bird's.
func synthetic(n int) *Collection {
	c := &Collection{Name: Judged}
	r := rand.New(rand.NewPCG(1, 2))
	birds, soups := strings.Fields("raven crow nest wing feather egg beak flight"), strings.Fields("onion pot water stock leek pepper salt bowl")
	for i := range n {
		words, label := soups, "soup"
		if i%10 == 0 {
			words, label = birds, "bird"
		}
		var body []string
		for range 20 {
			body = append(body, words[r.IntN(len(words))], fmt.Sprint("w", r.IntN(500)))
		}
		host := fmt.Sprintf("h%d.example", i%30)
		c.Facts = append(c.Facts, selection.Facts{URL: fmt.Sprintf("https://%s/%d", host, i), Host: host, Site: host, Score: -1, Text: strings.Join(body, " ")})
		c.Labels = append(c.Labels, label)
	}
	return c
}

// TestMeasure: what an archivist keeps is found on an easy collection, and the table says so.
func TestMeasure(t *testing.T) {
	o := DefaultOptions()
	o.Minds, o.Draws, o.Points = []Mind{{"bird", []string{"bird"}}}, 1, []int{20, 60}
	o.Settings.Topics = 10
	r, err := Measure(synthetic(300), o)
	if err != nil {
		t.Fatal(err)
	}
	row := r.Rows[0]
	if row.Pages != 30 || row.Asked[1] < 0.95 || row.Batch < 0.95 || row.Asked[1] < row.Random[1] {
		t.Errorf("%+v", row)
	}
	var out strings.Builder
	if err := r.Print(&out); err != nil || !strings.Contains(out.String(), "300 pages of 30 hosts") || !strings.Contains(out.String(), "bird") {
		t.Errorf("%v: %s", err, out.String())
	}
	o.Minds = []Mind{{"fish", []string{"fish"}}}
	if _, err := Measure(synthetic(20), o); err == nil {
		t.Error("no page has the label fish")
	}
}

// TestCollections: no host has pages in both collections.
func TestCollections(t *testing.T) {
	both := map[string]int{}
	for i := range 200 {
		host := fmt.Sprintf("www%d.uni%d.edu", i%7, i)
		if a, b := collectionOf("misc", host), collectionOf("misc", "x."+host); a != b {
			t.Errorf("%s is in %s, its subdomain in %s", host, a, b)
		} else {
			both[a]++
		}
	}
	if both[Chosen] < 60 || both[Judged] < 60 {
		t.Errorf("%v", both)
	}
	if collectionOf("cornell", "x") != Chosen || collectionOf("wisconsin", "x") != Judged {
		t.Error("universities are in the wrong collections")
	}
}

// TestLongSelectingOnWebKB: where a classifier that was trained on all labels reaches an F1 of 0.90, the kept set reaches it after 200
// decisions; pages that the helper asks about teach more than pages at random, of each mind.
func TestLongSelectingOnWebKB(t *testing.T) {
	data := os.Getenv("MUNINN_TESTDATA")
	if data == "" {
		t.Skip("MUNINN_TESTDATA is not set: no WebKB")
	}
	collections, err := Open(filepath.Join(data, "webkb"))
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Draws = 3
	r, err := Measure(collections[o.Collection], o)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Print(os.Stdout)
	reached := 0
	for _, row := range r.Rows {
		last := len(o.Points) - 1
		if row.Asked[last] < row.Random[last] {
			t.Errorf("%s: %.3f by questions, %.3f at random", row.Mind, row.Asked[last], row.Random[last])
		}
		if row.Batch < 0.9 {
			continue
		}
		if row.Asked[last] < 0.9 {
			t.Errorf("%s: %.3f after %d decisions, and %.3f with all labels", row.Mind, row.Asked[last], o.Points[last], row.Batch)
		}
		reached++
	}
	if reached == 0 {
		t.Error("no mind can be learned to an F1 of 0.90")
	}
}
