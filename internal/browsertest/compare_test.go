package browsertest

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
)

func picture(t *testing.T, shade uint8) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 40, 40))
	for i := range 100 {
		img.Set(i%10, i/10, color.RGBA{shade, 0, 0, 255})
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func view(t *testing.T) View {
	return View{
		Documents: []Document{
			{URL: "http://a.test/", Title: "Ravens", Text: "a raven", Images: []Image{{"http://a.test/i.png", 3, 4}}, Fonts: []string{"raven"}},
			{URL: "about:srcdoc", Text: "in a frame"},
		},
		Requests: []Request{{"http://a.test/", "Document", 200, ""}, {"http://a.test/i.png", "Image", 200, ""}, {"http://a.test/gone.png", "Image", 404, ""}, {"http://a.test/favicon.ico", "Other", 200, ""}, {"http://a.test/film", "Media", 206, ""}},
		Picture:  picture(t, 10),
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*View)
		want   string // what the differences begin with
	}{
		"nothing":                  {func(*View) {}, ""},
		"no icon of the window":    {func(v *View) { v.Requests = append(v.Requests[:3:3], v.Requests[4]) }, ""},
		"a whole film":             {func(v *View) { v.Requests[4].Status = 200 }, ""},
		"one more that is there":   {func(v *View) { v.Requests = append(v.Requests, Request{"http://a.test/x", "Fetch", 200, ""}) }, ""},
		"a colour that is rounded": {func(v *View) { v.Picture = picture(t, 12) }, ""},
		"a missing image":          {func(v *View) { v.Requests[1].Status = 404 }, "request http://a.test/i.png: 404"},
		"an image of the live web": {func(v *View) { v.Requests[1].Status, v.Requests[1].Error = 0, "net::ERR" }, "request http://a.test/i.png: 0 net::ERR"},
		"a request that is not made": {func(v *View) { v.Requests = append(v.Requests[:1:1], v.Requests[2:]...) },
			"request http://a.test/i.png: the replay does not make it"},
		"one more that is not there": {func(v *View) { v.Requests = append(v.Requests, Request{"http://a.test/x", "Fetch", 404, ""}) }, "request http://a.test/x: 404"},
		"another text":               {func(v *View) { v.Documents[1].Text = "" }, "text about:srcdoc"},
		"another title":              {func(v *View) { v.Documents[0].Title = "" }, "title http://a.test/"},
		"an image without size":      {func(v *View) { v.Documents[0].Images[0].Width = 0 }, "images http://a.test/"},
		"a font that is not loaded":  {func(v *View) { v.Documents[0].Fonts = nil }, "fonts http://a.test/"},
		"no frame":                   {func(v *View) { v.Documents = v.Documents[:1] }, "document http://a.test/: 1 documents"},
		"another pixel":              {func(v *View) { v.Picture = picture(t, 99) }, "picture http://a.test/: 6.250 %"},
	} {
		replay := view(t)
		c.change(&replay)
		var got []string
		for _, d := range Differences(view(t), replay) {
			got = append(got, d.String())
		}
		if text := strings.Join(got, "\n"); !strings.HasPrefix(text, c.want) || c.want == "" && text != "" || len(got) > 1 {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestArchivedURL(t *testing.T) {
	t.Parallel()
	p := &Player{base: "http://127.0.0.1:99"}
	for from, want := range map[string]string{
		"http://127.0.0.1:99/replay/w/archive/20261123120000mp_/http://a.test/?b=1": "http://a.test/?b=1",
		"http://127.0.0.1:99/replay/w/archive/mp_/http://a.test/":                   "http://a.test/",
		"http://127.0.0.1:99/replay/w/archive/:page/20261123im_///b.test/i.png":     "http://b.test/i.png",
		"http://127.0.0.1:99/replay/w/archive/mp_/srcdoc:PGI+":                      "about:srcdoc",
		"http://127.0.0.1:99/static/wombat.js":                                      "http://127.0.0.1:99/static/wombat.js",
		"http://a.test/live.png":                                                    "http://a.test/live.png",
	} {
		if got := p.archived(from); got != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
}
