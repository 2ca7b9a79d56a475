package urls

import "testing"

func TestSessions(t *testing.T) {
	const sid = "0123456789abcdef0123456789abcdef"
	for raw, want := range map[string]string{
		"http://f.example/viewtopic.php?t=1":                         "http://f.example/viewtopic.php?t=1",
		"http://f.example/viewtopic.php?t=1&sid=" + sid:              "http://f.example/viewtopic.php?t=1",
		"http://f.example/viewtopic.php?sid=" + sid + "&t=1":         "http://f.example/viewtopic.php?t=1",
		"http://f.example/viewtopic.php?f=2&sid=" + sid + "&t=1":     "http://f.example/viewtopic.php?f=2&t=1",
		"http://f.example/index.php?PHPSESSID=" + sid:                "http://f.example/index.php",
		"http://f.example/?sid=" + sid + "&s=" + sid + "&sid=" + sid: "http://f.example/",
		"http://f.example/?sid=7":                                    "http://f.example/?sid=7", // no session: too short
		"http://f.example/" + sid + "?x=sid=" + sid:                  "http://f.example/" + sid + "?x=sid=" + sid,
	} {
		u, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := u.String(); got != want {
			t.Errorf("canonical form of %s is %s, want %s", raw, got, want)
		}
	}
}
