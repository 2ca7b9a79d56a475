package urls

import "testing"

// TestSessions: a session is asked for as it is written, and makes no other page. A list of a definition says which parameters name one.
func TestSessions(t *testing.T) {
	const sid, php = "0123456789abcdef0123456789ABCDEF", "0a-b,2c3d4e5f6g7h8i9jkl"
	all := NewForm(nil, nil, []string{"sid", "s", "JSESSIONID", "phpsessid"})
	for raw, want := range map[string]string{
		"http://f.example/viewtopic.php?t=1":                                   "",
		"http://f.example/viewtopic.php?t=1&sid=" + sid:                        "http://f.example/viewtopic.php?t=1",
		"http://f.example/viewtopic.php?SID=" + sid + "&t=1":                   "http://f.example/viewtopic.php?t=1",
		"http://f.example/viewtopic.php?f=2&sid=" + sid + "&t=1":               "http://f.example/viewtopic.php?f=2&t=1",
		"http://f.example/viewtopic.php?&jsessionid=" + sid + "&&t=1&":         "http://f.example/viewtopic.php?t=1",
		"http://f.example/index.php?PHPSESSID=" + php:                          "http://f.example/index.php",
		"http://f.example/index.php?PHPSESSID=" + php[:21]:                     "", // too short
		"http://f.example/index.php?PHPSESSID=" + sid + sid[:17]:               "", // too long
		"http://f.example/?sid=" + sid + "&s=" + sid + "&sid=" + sid:           "http://f.example/",
		"http://f.example/?sid=7":                                              "",
		"http://f.example/?s=" + sid[1:]:                                       "",
		"http://f.example/?s=" + sid + "0":                                     "",
		"http://f.example/?s=g" + sid[1:]:                                      "",
		"http://f.example/" + sid + "?x=sid=" + sid:                            "",
		"http://f.example/?sid" + sid + "&" + sid + "=s&topic=" + sid + "&&a=": "",
	} {
		u, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if u.String() != raw {
			t.Errorf("%s is asked for as %s", raw, u)
		}
		if want == "" {
			want = raw
		}
		if got := all.Of(u); got.String() != want || all.Of(got) != got {
			t.Errorf("canonical form of %s is %s, then %s, want %s", raw, got, all.Of(got), want)
		}
		if got := NewForm([]string{"utm_*"}, nil, nil).Of(u); got != u {
			t.Errorf("without sessions the canonical form of %s is %s", raw, got)
		}
	}
}
