package urls

import "testing"

func TestForm(t *testing.T) {
	f := NewForm([]string{"utm_*", "FBCLID", "cfid"}, []string{"jsessionid"}, nil)
	for raw, want := range map[string]string{
		"http://a.example/":                                  "",
		"http://a.example/?a=b&c":                            "",
		"http://a.example/?utm_source=x":                     "http://a.example/",
		"http://a.example/p?UTM_Source=x&a=b&utm_medium=y":   "http://a.example/p?a=b",
		"http://a.example/p?a=b&&fbclid=1&c":                 "http://a.example/p?a=b&&c",
		"http://a.example/p?fbclid":                          "http://a.example/p",
		"http://a.example/p?xfbclid=1":                       "",
		"http://a.example/p?q=utm_source=x":                  "",
		"http://a.example:81/b;jsessionid=AF12?c=d":          "http://a.example:81/b?c=d",
		"http://a.example/b;JSESSIONID=AF12;v=2/c;v=3?cfid=": "http://a.example/b;v=2/c;v=3",
		"http://a.example/b;v=2;jsessionid=1":                "http://a.example/b;v=2",
		"http://a.example/b;jsessionids=1":                   "",
		"http://a.example/?b;jsessionid=1":                   "",
	} {
		u, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = u.String()
		}
		got := f.Of(u)
		if got.String() != want || got.Host() != u.Host() || got.Port() != u.Port() {
			t.Errorf("%s becomes %s, want %s", raw, got, want)
		}
		if again := f.Of(got); again != got {
			t.Errorf("%s becomes %s again", got, again)
		}
		if same := new(Form).Of(u); same != u {
			t.Errorf("the form that drops nothing: %s becomes %s", raw, same)
		}
	}
}

func BenchmarkForm(b *testing.B) {
	f := NewForm([]string{"utm_*", "fbclid", "gclid"}, []string{"jsessionid"}, []string{"sid", "s"})
	for name, raw := range map[string]string{"plain": "https://www.example.org/a/b.html", "query": "https://www.example.org/a/b.html?page=3&sort=date"} {
		u, err := Parse(raw)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.Of(u)
			}
		})
	}
}
