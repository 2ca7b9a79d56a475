package browsertest

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"net/http"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/urls"
)

// Difference is one way in which the replay of a page is not like the page.
type Difference struct {
	Kind string // request, document, title, text, images, fonts, picture
	URL  string // of what differs
	Says string
}

func (d Difference) String() string { return d.Kind + " " + d.URL + ": " + d.Says }

// Differences compares a page with its replay: all that the page requested with an answer is requested of the archive and answered alike,
// and documents, texts, images, fonts and all but a few pixels are the same.
func Differences(live, replay View) (found []Difference) {
	asked, answered := byURL(live.Requests), byURL(replay.Requests)
	for u, was := range asked {
		now, ok := answered[u]
		switch {
		case was.Status == 0: // it was cancelled, or the server was not there
		case !ok && was.Type == "Other": // the icon of a window; the replay is in a frame
		case !ok:
			found = append(found, Difference{"request", u, fmt.Sprintf("the replay does not make it; live: %d", was.Status)})
		case now.Status/100 != was.Status/100:
			found = append(found, Difference{"request", u, fmt.Sprintf("%d %s; live: %d", now.Status, now.Error, was.Status)})
		}
	}
	for u, now := range answered {
		if _, ok := asked[u]; !ok && (now.Status == 0 || now.Status >= http.StatusBadRequest) {
			found = append(found, Difference{"request", u, fmt.Sprintf("%d %s; live it is not made", now.Status, now.Error)})
		}
	}
	slices.SortFunc(found, func(a, b Difference) int { return cmp.Compare(a.URL, b.URL) })
	if len(live.Documents) != len(replay.Documents) {
		return append(found, Difference{"document", live.Documents[0].URL, fmt.Sprintf("%d documents; live: %d", len(replay.Documents), len(live.Documents))})
	}
	for i, was := range live.Documents {
		found = append(found, unlike(was, replay.Documents[i])...)
	}
	share, err := Unlike(live.Picture, replay.Picture)
	if err != nil {
		found = append(found, Difference{"picture", live.Documents[0].URL, err.Error()})
	} else if share*width*height > few {
		found = append(found, Difference{"picture", live.Documents[0].URL, fmt.Sprintf("%.3f %% of the pixels differ", 100*share)})
	}
	return found
}

func unlike(was, now Document) (found []Difference) {
	differs := func(kind, a, b string) {
		if a != b {
			found = append(found, Difference{kind, was.URL, fmt.Sprintf("%q; live: %q", b, a)})
		}
	}
	differs("document", Canonical(was.URL), Canonical(now.URL))
	differs("title", was.Title, now.Title)
	differs("text", was.Text, now.Text)
	differs("images", images(was), images(now))
	differs("fonts", strings.Join(was.Fonts, ", "), strings.Join(now.Fonts, ", "))
	return found
}

// images lists the images of a document with their sizes.
func images(d Document) string {
	var list []string
	for _, i := range d.Images {
		list = append(list, fmt.Sprintf("%s %d×%d", Canonical(i.URL), i.Width, i.Height))
	}
	return strings.Join(list, "\n")
}

// byURL has the best answer to the requests for each URL.
func byURL(list []Request) map[string]Request {
	out := map[string]Request{}
	for _, r := range list {
		u := Canonical(r.URL)
		if was, again := out[u]; !again || was.Status == 0 || r.Status != 0 && r.Status < was.Status {
			out[u] = r
		}
	}
	return out
}

// Canonical is a URL as Muninn archives it.
func Canonical(raw string) string {
	if u, err := urls.Parse(raw); err == nil {
		return u.String()
	}
	return raw
}

// tolerance is how much a colour may differ, of 255: the same edges come out one step lighter in a frame.
const tolerance = 4

// few is how many pixels may differ: the controls of sounds and films fade in. The smallest image of webworld/illustrated has 256.
const few = 64

// Unlike is the share of pixels in which two PNG files differ.
func Unlike(a, b []byte) (share float64, err error) {
	if bytes.Equal(a, b) {
		return 0, nil
	}
	was, err := pixels(a)
	if err != nil {
		return 0, err
	}
	now, err := pixels(b)
	if err != nil {
		return 0, err
	}
	if was.Rect != now.Rect {
		return 1, nil
	}
	differ := 0
	for i := 0; i < len(was.Pix); i += 4 {
		for c := i; c < i+4; c++ {
			if max(was.Pix[c], now.Pix[c])-min(was.Pix[c], now.Pix[c]) > tolerance {
				differ++
				break
			}
		}
	}
	return float64(differ) / float64(len(was.Pix)/4), nil
}

func pixels(file []byte) (*image.RGBA, error) {
	img, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("picture of the window: %w", err)
	}
	out := image.NewRGBA(img.Bounds())
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out, nil
}
