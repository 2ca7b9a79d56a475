package query

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestUsualForm(t *testing.T) {
	for _, test := range []struct{ query, want string }{
		{"", ""},
		{"  \t", ""},
		{"!!! -- ()", ""},
		{"house", "house"},
		{"house garden", "house garden"},
		{"house AND garden", "house garden"},
		{`"house garden"`, `"house garden"`},
		{`“house garden”`, `"house garden"`},
		{`„Haus“ «maison»`, "Haus maison"},
		{`"say \"yes\" \\ now"`, `"say \"yes\" \\ now"`},
		{"well-known", `"well-known"`},
		{"house -garden", "house -garden"},
		{"house - garden", "house garden"},
		{"--house", "house"},
		{"-(a b)", "-(a b)"},
		{"-(a OR b)", "-(a OR b)"},
		{"a b OR c d", "a b OR c d"},
		{"a (b OR c) d", "a (b OR c) d"},
		{"((a) OR (b OR c))", "a OR b OR c"},
		{`a "OR" b`, `a "OR" b`},
		{"or and", "or and"},
		{"SITE:Example.ORG", "site:example.org"},
		{"site:bücher.de", "site:xn--bcher-kva.de"},
		{"host:www.example.org.", "host:www.example.org"},
		{"host:127.0.0.1", "host:127.0.0.1"},
		{`crawl:"my crawl"`, `crawl:"my crawl"`},
		{"lang:en-GB", "lang:en"},
		{"type:Post type:application/PDF", "type:post type:application/pdf"},
		{`author:"Jane Doe"`, `author:"Jane Doe"`},
		{"date:2025..2026 date:..2024-02-29 date:2025-03..", "date:2025..2026 date:..2024-02-29 date:2025-03.."},
		{"score:>0.5 score:<=.9 score:0.5..0.8 status:404 status:4xx", "score:>0.5 score:<=.9 score:0.5..0.8 status:404 status:4xx"},
		{"-site:example.org", "-site:example.org"},
		{"Note: at 12:30", `"Note:" at "12:30"`},
		{"東京 猫", "東京 猫"},
		{"e\u0301t\u0301", "\"e\u0301t\u0301\""},
	} {
		q, err := Parse(test.query)
		if err != nil || q.String() != test.want {
			t.Errorf("%q: %q, %v, want %q", test.query, q.String(), err, test.want)
			continue
		}
		again, err := Parse(q.String())
		if err != nil || !reflect.DeepEqual(q, again) {
			t.Errorf("%q: %#v is read again as %#v, %v", test.query, q, again, err)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, test := range []struct {
		query string
		at    int
		want  string
	}{
		{`a "b`, 2, "has no end"},
		{"ä (b", 2, "is not closed"},
		{"a ) b", 2, "no parenthesis is open"},
		{"OR a", 0, "OR stands between"},
		{"a OR", 4, "OR stands between"},
		{"a OR OR b", 4, "OR stands between"},
		{"a hous*", 6, "no wildcards"},
		{"colour:red", 0, "there is no field colour: use site:"},
		{"ü http://example.org/", 2, "a URL is no word"},
		{"site:", 5, "such as site:example.org"},
		{"site: example.org", 5, "without a blank"},
		{"site:http://example.org/a", 5, "takes the name of a domain"},
		{"site:www.example.org", 5, "write site:example.org, or host:www.example.org"},
		{"host:a/b", 5, "takes the name of a host"},
		{"host:a.example:8080", 5, "takes the name of a host"},
		{"lang:English", 5, "takes the code of a language"},
		{"lang:e1", 5, "takes the code of a language"},
		{"lang:-", 5, "takes the code of a language"},
		{"author:!", 7, "words of a name"},
		{"date:25", 5, "takes a year"},
		{"date:2025-13", 5, "takes a year"},
		{"date:2023-02-29", 5, "takes a year"},
		{"date:..", 5, "takes a year"},
		{"date:2026..2025", 5, "write date:2025..2026"},
		{"score:high", 6, "takes a number"},
		{"score:NaN", 6, "takes a number"},
		{"score:>", 6, "takes a number"},
		{"score:1..0", 6, "write score:0..1"},
		{"status:0x10", 7, "takes a number"},
		{"a \xff b", 2, "not UTF-8"},
		{strings.Repeat("-(", 9) + "a" + strings.Repeat(")", 9), 16, "more than 16"},
		{strings.Repeat("a ", 129), 256, "more than 128"},
		{strings.Repeat("a", MaxBytes+1), 0, "shorten it to 8192"},
	} {
		_, err := Parse(test.query)
		fault := new(Error)
		if !errors.As(err, &fault) || fault.At != test.at || !strings.Contains(fault.Message, test.want) {
			t.Errorf("%.40q: %v (at %d), want %q at %d", test.query, err, fault.At, test.want, test.at)
		}
	}
}

// TestDepth: as many parentheses and minus signs as docs/SEARCHING.md allows may stand one in the other.
func TestDepth(t *testing.T) {
	for _, open := range []string{strings.Repeat("(", MaxDepth), strings.Repeat("-(", MaxDepth/2)} {
		text := open + "a" + strings.Repeat(")", strings.Count(open, "("))
		if _, err := Parse(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := Parse("(" + text + ")"); err == nil {
			t.Errorf("(%s) is not refused", text)
		}
	}
}

func TestMatch(t *testing.T) {
	facts := Facts{
		Crawl: "elections", URL: "https://blog.example.org/a", Date: time.Date(2025, 3, 7, 23, 59, 59, 0, time.UTC), Status: 200, MIME: "text/html",
		Score: 0.6, Application: "phpBB", Level: "Thread", Type: "post", Language: "en-GB", Author: "Jane Mary Doe",
		Title: "Counting the votes", Text: "The houses are well known. 東京 is far away.",
	}
	for _, test := range []struct {
		query string
		want  bool
	}{
		{"", true}, {"house", true}, {"HOUSES", true}, {"hou", false}, {"houses garden", false}, {"houses OR garden", true}, {"-garden", true}, {"-house", false},
		{`"houses are"`, true}, {`"are houses"`, false}, {"well-known", true}, {`"votes the houses"`, false}, {`"count the vote"`, true}, {"votes", true},
		{"東", true}, {"東京", true}, {"京東", false}, {"京", true}, {`"東京 is"`, true},
		{"site:example.org", true}, {"host:blog.example.org", true}, {"host:example.org", false}, {"crawl:elections", true}, {"crawl:Elections", false},
		{"lang:en", true}, {"lang:de", false}, {"type:post", true}, {"type:page", false}, {"type:text/html", true}, {"type:text/plain", false},
		{"app:phpbb", true}, {"level:thread", true}, {"author:jane", true}, {`author:"mary doe"`, true}, {`author:"jane doe"`, false},
		{"date:2025", true}, {"date:2025-03", true}, {"date:2025-03-07", true}, {"date:2025-03-08..", false}, {"date:..2025-03-06", false}, {"date:2024..2025", true},
		{"score:>0.5", true}, {"score:>0.6", false}, {"score:>=0.6", true}, {"score:0.6", true}, {"score:<0.6", false}, {"score:0.1..0.5", false},
		{"status:200", true}, {"status:2xx", true}, {"status:>=300", false}, {"(house OR garden) -(site:example.org status:404)", true},
	} {
		q, err := Parse(test.query)
		if err != nil {
			t.Errorf("%s: %v", test.query, err)
			continue
		}
		if got := q.Match(&facts); got != test.want {
			t.Errorf("%s: %v", test.query, got)
		}
	}
}

func TestPeriod(t *testing.T) {
	q, err := Parse("house date:2025 date:..2025-03 -date:2024")
	if err != nil {
		t.Fatal(err)
	}
	from, to := q.Period()
	if from != time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC) || to != time.Date(2025, 4, 1, 0, 0, 0, 0, time.UTC) {
		t.Errorf("from %v to %v", from, to)
	}
}

// FuzzParse: what is read is bounded, and written and read again the same; a fault is at a character of the query.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`a "b c" -d OR (e site:example.org)`, `date:2025..2026 score:>0.5`, "“a” „b“ «c»", `-(-(a OR b))`, `x:"\"" Note: AND OR`, "lang:- 東京*", `crawl:"\\"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := Parse(s)
		if err != nil {
			fault := new(Error)
			if !errors.As(err, &fault) || fault.At < 0 || fault.At > len([]rune(s)) {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		again, err := Parse(q.String())
		if err != nil || !reflect.DeepEqual(q, again) {
			t.Fatalf("%q is %q, read again as %q, %v", s, q.String(), again.String(), err)
		}
		q.Match(&Facts{Text: s, Title: s, Author: s})
	})
}
