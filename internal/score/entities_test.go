package score

import (
	"maps"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestGazetteer finds names. The expected results are the numbers of entities, with a + for those found by an alias.
func TestGazetteer(t *testing.T) {
	g := newGazetteer([]crawl.Entity{
		{Name: "Muninn", Aliases: []string{"Mimir's raven", "MUN"}},
		{Name: "US"},
		{Name: "Björk", Aliases: []string{"Guðmundsdóttir"}},
		{Name: " The  Raven\n"},
		{Name: "東京", Aliases: []string{"iPhone"}},
		{Name: "NATO"},
		{Name: "Muninn Archive"},
		{Name: "", Aliases: []string{" ", "nothing"}},
		{Name: "C++ 20"},
		{Name: "São"},
	})
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"Muninn", "0"},
		{"muninn", "0"},
		{"MUNINN", "0"},
		{"Múninn", "0"},
		{"mu\u0301ninn", "0"},
		{"of Muninn, who", "0"},
		{"(Muninn)", "0"},
		{"Muninn's", "0"},
		{"Muninn-Huginn", "0"},
		{"Muninns", ""},
		{"Muninn7", ""},
		{"xMuninn", ""},
		{"éMuninn", ""},
		{"Muninnе", ""}, // a Cyrillic letter is one too

		{"US", "1"},
		{"the US.", "1"},
		{"us", ""},
		{"Us", ""},
		{"USA", ""},
		{"ÚS", ""},
		{"NATO, US", "1 5"},
		{"Nato", ""},

		{"Björk", "2"},
		{"Bjork", "2"},
		{"BJÖRK", "2"},
		{"bjo\u0308rk", "2"},
		{"Bjorkman", ""},
		{"Guðmundsdottir", "2+"},
		{"São", "9"},
		{"Sao", ""}, // short ones as they are written only
		{"são", ""},

		{"the raven", "3"},
		{"THE RAVEN", "3"},
		{"raven", ""},
		{"Mimir's raven", "0+"},
		{"Mimir's Ravens", ""},
		{"MUN", "0+"},
		{"mun", ""},
		{"MUN is Muninn", "0"}, // the best of its names
		{"Muninn is MUN", "0"},
		{"the Muninn Archive", "0 6"},
		{"Muninn Archives", "0"},
		{"C++ 20", "8"},
		{"C++ 2020", ""},

		{"東京", "4"},
		{"大東京都", "4"}, // nobody writes spaces there
		{"京東", ""},
		{"新しいiPhone発売", "4+"},
		{"myiPhone発売", ""},
		{"nothing", "7+"},
	} {
		want := map[int]float64{}
		for _, f := range strings.Fields(c.want) {
			number, alias := strings.CutSuffix(f, "+")
			want[int(number[0]-'0')] = 1
			if alias {
				want[int(number[0]-'0')] = 0.5
			}
		}
		got := map[int]float64{}
		if g.find(c.text, got); !maps.Equal(got, want) {
			t.Errorf("%q names %v, want %v", c.text, got, want)
		}
	}
	if newGazetteer(nil) != nil || newGazetteer([]crawl.Entity{{Name: "\n", Aliases: []string{""}}}) != nil {
		t.Error("no names make a gazetteer")
	}
}

func TestEntities(t *testing.T) {
	five := []crawl.Entity{{Name: "Muninn", Aliases: []string{"Minni"}}, {Name: "Huginn"}, {Name: "Geri the wolf"}, {Name: "Freki"}, {Name: "Sleipnir"}}
	plain := crawl.Outlink{URL: "http://a.example/", Hop: crawl.HopLink, Block: -1}
	anchor := func(text string) crawl.Outlink {
		l := plain
		l.Anchor = text
		return l
	}
	hop := func(hop crawl.Hop, text string) crawl.Outlink {
		l := anchor(text)
		l.Hop = hop
		return l
	}
	of := func(p crawl.Page) crawl.Parsed { return crawl.Parsed{Page: p} }
	text := func(blocks ...string) crawl.Parsed { return of(crawl.Page{Blocks: blocks}) }
	for _, c := range []struct {
		name     string
		entities int
		page     crawl.Parsed
		link     crawl.Outlink
		want     float64
	}{
		{"one of one", 1, text("Muninn"), plain, 1},
		{"its alias", 1, text("Minni"), plain, 0.5},
		{"one of two", 2, text("Muninn"), plain, 0.5},
		{"one of five", 5, text("Huginn Huginn"), plain, 1.0 / 3},
		{"two and an alias of five", 5, text("Huginn", "Freki and Minni"), plain, 2.5 / 3},
		{"three of five", 5, text("Huginn", "Freki and Muninn"), plain, 1},
		{"all of five", 5, text("Muninn Huginn geri THE wolf Freki Sleipnir"), plain, 1},
		{"none", 5, text("fox"), plain, 0},
		{"the title", 2, of(crawl.Page{Title: "Of Huginn", Blocks: []string{"fox"}}), plain, 0.5},
		{"what is content", 2, crawl.Parsed{Page: crawl.Page{Blocks: []string{"Huginn", "Muninn"}}, Findings: crawl.Findings{Content: []bool{false, true}}}, plain, 0.5},
		{"a name over two blocks", 5, text("Geri the", "wolf"), plain, 0},

		{"the anchor", 5, text("fox"), anchor("Who is Huginn?"), 1},
		{"the anchor has an alias", 5, text("fox"), anchor("Minni"), 0.5},
		{"the anchor has two", 5, text("fox"), anchor("Huginn and Freki"), 1},
		{"the anchor has none", 5, text("Huginn"), anchor("fox"), 1.0 / 3},
		{"an alias in the anchor goes before the page", 1, text("Muninn"), anchor("Minni"), 0.5},
		{"paging", 5, text("fox"), hop(crawl.HopPaging, "Huginn"), 1},
		{"embedded", 5, text("Huginn"), hop(crawl.HopEmbed, "Freki Muninn Huginn"), 1.0 / 3},
		{"redirect", 5, text("Huginn"), hop(crawl.HopRedirect, "Huginn"), silent},
		{"sitemap", 5, text("Huginn"), hop(crawl.HopSitemap, ""), silent},
		{"no entities", 0, text("Huginn"), anchor("Huginn"), silent},
	} {
		if got := saysOf(t, "entities", crawl.Topic{Entities: five[:c.entities]}, c.page, c.link, Context{}); !near(got, c.want) {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}
