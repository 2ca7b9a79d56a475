package starter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/frontier"
)

// A file of URLs is a text or JSON lines, whichever its first line is.
func TestScoredFile(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"http://a.example/1 # of a colleague\n\n# more\nhttp://a.example/2\n", "http://a.example/1 0.7 false, http://a.example/2 0.7 false"},
		{"\n{\"url\": \"http://a.example/1\", \"score\": 0.25, \"anchor\": \"a # b\"}\n\n{\"url\": \"http://a.example/2\", \"blacklisted\": true}\n", "http://a.example/1 0.25 false, http://a.example/2 0 true"},
		{"{\"url\": \"http://a.example/1\", \"score\": 2}\nhttp://a.example/2\n", "line 1: score is 2, must be from 0 to 1"},
		{"{\"url\": \"http://a.example/1\", \"score\": 1}\nhttp://a.example/2\n", "line 2: must be a mapping"},
		{"", "there is no URL"},
	} {
		as := frontier.Submission{}
		as.Score = 0.7
		list, bad, err := submissions([]string{write(t, "urls", c.text)}, as)
		var got []string
		for _, u := range list {
			got = append(got, fmt.Sprint(u.URL, " ", u.Score, " ", u.Blacklisted))
		}
		said := strings.Join(got, ", ")
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, c.want) || len(bad) > 0 {
			t.Errorf("%q: %s, %v, want %s", c.text, said, bad, c.want)
		}
	}
}
