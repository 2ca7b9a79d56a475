package browsertest

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/chromedp/cdproto/page"
)

// Player serves ReplayWeb.page and an archive on a port of this machine.
type Player struct {
	base   string // http://127.0.0.1:port
	server *http.Server
}

// collection is the name under which the player knows the archive.
const collection = "archive"

// NewPlayer serves the player in a folder, which has its files ui.js and sw.js, and an archive: one WACZ file, or WARC files, which are
// played as one.
func NewPlayer(ctx context.Context, folder string, archive ...string) (*Player, error) {
	for _, name := range []string{"ui.js", "sw.js"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return nil, fmt.Errorf("%s holds no ReplayWeb.page: `make replay` fetches it: %w", folder, err)
		}
	}
	name := "/archive.warc.gz"
	if len(archive) == 1 && strings.HasSuffix(archive[0], ".wacz") {
		name = "/archive.wacz"
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `<!DOCTYPE html><html><body><script src="/ui.js"></script><replay-web-page embed="replayonly" replaybase="/replay/" coll="%s" source="%s" url="%s"></replay-web-page></body></html>`,
			collection, name, html.EscapeString(r.URL.Query().Get("url")))
	})
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `<!DOCTYPE html><html><head><style>body { margin: 0 } iframe { display: block; border: 0; width: 100vw; height: 100vh }</style></head><body><iframe name="___wb_replay_top_frame" src="/replay/w/%s/mp_/%s"></iframe></body></html>`,
			collection, html.EscapeString(r.URL.Query().Get("url")))
	})
	serve := func(pattern, file string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) })
	}
	serve("GET /ui.js", filepath.Join(folder, "ui.js"))
	serve("GET /replay/ui.js", filepath.Join(folder, "ui.js"))
	serve("GET /replay/sw.js", filepath.Join(folder, "sw.js"))
	whole, err := joined(archive)
	if err != nil {
		return nil, err
	}
	mux.HandleFunc("GET "+name, func(w http.ResponseWriter, r *http.Request) { // the player asks for its size, and for parts of it
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(whole))
	})
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Player{base: "http://" + listener.Addr().String(), server: &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}}
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
}

// Close ends the server.
func (p *Player) Close() { _ = p.server.Close() }

// joined is files one behind the other: WARC files of gzip members may be joined.
func joined(files []string) (whole []byte, err error) {
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		whole = append(whole, raw...)
	}
	return whole, nil
}

// Load has the browser load the archive into the player, which then shows a page of it.
func (b *Browser) Load(p *Player, first string) error {
	ctx, cancel := context.WithTimeout(b.ctx, 4*limit)
	defer cancel()
	if _, err := b.visit(ctx, p.base+"/?url="+url.QueryEscape(first)); err != nil {
		return fmt.Errorf("load the archive: %w", err)
	}
	tick := time.NewTicker(quiet)
	defer tick.Stop()
	for {
		for _, r := range b.log.all() {
			if p.archived(r.URL) == first && r.Status > 0 {
				if r.Status >= http.StatusBadRequest {
					return fmt.Errorf("load the archive: the player answers %d for %s", r.Status, first)
				}
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("load the archive: %w: the player has not shown %s", ctx.Err(), first)
		}
	}
}

// Replay views an archived page. The URLs of the view are those of the archive.
func (b *Browser) Replay(p *Player, rawURL string) (View, error) {
	out, err := b.view(p.base+"/page?url="+url.QueryEscape(rawURL), func(tree *page.FrameTree) *page.FrameTree {
		if len(tree.ChildFrames) == 0 {
			return nil
		}
		return tree.ChildFrames[0]
	})
	if err != nil {
		return out, err
	}
	var requests []Request
	for _, r := range out.Requests {
		if strings.HasPrefix(r.URL, p.base) && !played.MatchString(r.URL) { // the player's own
			continue
		}
		r.URL = p.archived(r.URL)
		requests = append(requests, r)
	}
	out.Requests = requests
	for i := range out.Documents {
		d := &out.Documents[i]
		d.URL = p.archived(d.URL)
		for n := range d.Images {
			d.Images[n].URL = p.archived(d.Images[n].URL)
		}
	}
	return out, nil
}

// played is the form of the URLs by which the player shows what is archived: the collection, a time, a kind, and the archived URL.
var played = regexp.MustCompile(`^http://127\.0\.0\.1:\d+/replay/w/` + collection + `/(?::[^/]*/)?\d*[a-z]+_/(.*)$`)

// archived is the URL in the archive that a URL of the player stands for; other URLs stay as they are.
func (p *Player) archived(playerURL string) string {
	m := played.FindStringSubmatch(playerURL)
	switch {
	case m == nil:
		return playerURL
	case strings.HasPrefix(m[1], "srcdoc:"):
		return "about:srcdoc"
	case strings.HasPrefix(m[1], "//"):
		return "http:" + m[1]
	}
	return m[1]
}

func (l *traffic) all() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Request(nil), l.requests...)
}
