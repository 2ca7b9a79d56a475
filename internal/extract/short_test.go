package extract

import "testing"

// TestShortArticle: a page with a short text is an article if it says when it was published, in its head or below the heading.
func TestShortArticle(t *testing.T) {
	const text = `<p>The raven sits on the wall of the old tower and looks down at the people who pass below it on their way to the market, as it has done each day.</p>`
	for _, c := range []struct {
		name, url, html string
		made            bool
	}{
		{"a date below the heading", "http://a.test/ravens", `<title>Ravens | Tower</title><h1>Ravens</h1><p>5 March 2021</p>` + text, true},
		{"a date in the head", "http://a.test/ravens", `<title>x</title><meta name="pubdate" content="2021-03-05">` + text, true},
		{"an author below the heading", "http://a.test/ravens", `<title>Ravens | Tower</title><h1>Ravens</h1><p>Written by Hugo Munin</p>` + text, true},
		{"no date", "http://a.test/ravens", `<title>Ravens | Tower</title><h1>Ravens</h1>` + text, false},
		{"another heading", "http://a.test/ravens", `<title>Crows of the moor</title><h1>Ravens</h1><p>5 March 2021</p>` + text, false},
		{"a list by its address", "http://a.test/category/ravens", `<title>Ravens | Tower</title><h1>Ravens</h1><p>5 March 2021</p>` + text, false},
		{"a list by its dates", "http://a.test/ravens", `<title>Ravens | Tower</title><h1>Ravens</h1><p>5 March 2021</p><p>4 March 2021</p><p>3 March 2021</p>` + text, false},
		{"the front", "http://a.test/", `<title>Ravens | Tower</title><h1>Ravens</h1><p>5 March 2021</p>` + text, false},
		{"next to no text", "http://a.test/ravens", `<title>Ravens</title><h1>Ravens</h1><p>5 March 2021</p><p>They fly.</p>`, false},
	} {
		if made := pageAt(t, c.url, c.html).Supply(false, &Set{}); made != c.made {
			t.Errorf("%s: %v, want %v", c.name, made, c.made)
		}
	}
}
