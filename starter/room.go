package starter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/room"
	"github.com/muninn-archive/muninn/internal/room/cdx"
	"github.com/muninn-archive/muninn/internal/room/dns"
	"github.com/muninn-archive/muninn/internal/room/memento"
	"github.com/muninn-archive/muninn/internal/room/views"
)

// Times of the reading room.
const (
	roomHeader = 10 * time.Second // to read the header of a request
	roomAnswer = 5 * time.Minute  // to send an answer: raw captures may be large
	roomEnd    = 5 * time.Second  // that answers may take when the server ends
	roomPause  = 15 * time.Second // between two looks at the archives
)

// openRoom listens, follows the archives and serves until the context ends.
func (g *globals) openRoom(ctx context.Context, o roomOptions, v *views.Views, conf room.Config, stale string) error {
	if len(v.Crawls()) == 0 {
		return fmt.Errorf("there is no crawl in %s: name the folder or prefix that the folders of crawls lie in (--archive)", strings.Join(o.archives, ", "))
	}
	conf.More, conf.Cite = more(v, conf.Door), citation
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	servers := []*http.Server{}
	listeners := []net.Listener{listener}
	out := serving{Listen: listener.Addr().String(), Room: "http://" + listener.Addr().String() + "/", Views: stale, Rebuilt: stale != ""}
	for _, c := range v.Crawls() {
		out.Shown = append(out.Shown, c.Name)
	}
	if conf.Deciders != nil {
		out.Decides = cmp.Or(conf.Deciders.Who, "those whom "+conf.Readers.Header+" names")
	}
	if o.origin != "" {
		out.Room = strings.TrimSuffix(o.origin, "/") + "/"
	}
	if conf.Replay != nil {
		second, err := new(net.ListenConfig).Listen(ctx, "tcp", o.replayAddress())
		if err != nil {
			return errors.Join(fmt.Errorf("--replay-listen: %w", err), listener.Close())
		}
		listeners = append(listeners, second)
		_, conf.Replay.Port, _ = net.SplitHostPort(second.Addr().String())
		_, conf.Replay.RoomPort, _ = net.SplitHostPort(listener.Addr().String())
		out.Replay = "http://" + second.Addr().String()
	}
	r := room.New(conf)
	servers = append(servers, roomServer(r.Handler()))
	if conf.Replay != nil {
		servers = append(servers, roomServer(r.ReplayHandler()))
	}
	if err := g.Print(out, out.write); err != nil {
		return err
	}
	return serveUntil(ctx, servers, listeners, func(ctx context.Context) error { return v.Follow(ctx, roomPause) }, conf.Desk.Follow)
}

// more are the APIs beside the pages: CDX, Memento and DNS history.
func more(v *views.Views, door *room.Door) map[string]http.Handler {
	guarded := v.Guarded(door)
	raw := memento.New(guarded, v, memento.Options{Page: http.HandlerFunc(room.ShowDated)})
	return map[string]http.Handler{"/cdx": cdx.New(guarded), "/dns": dns.New(guarded), memento.Prefix: raw, memento.Cite: raw}
}

// citation is the path of a citation of a capture.
func citation(of room.Crawl, e *room.Entry) string {
	at := catalogue.Entry{Crawl: of.CrawlAt, Segment: e.Segment}
	at.Offset = e.Offset
	return memento.CitationOf(&at)
}

func roomServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: roomHeader, ReadTimeout: roomHeader, WriteTimeout: roomAnswer, IdleTimeout: roomAnswer, MaxHeaderBytes: 64 << 10}
}

// serveUntil serves until the context ends or a server fails, and lets requests in progress finish for a while. What runs beside has
// ended when it returns.
func serveUntil(ctx context.Context, servers []*http.Server, listeners []net.Listener, beside ...func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, len(servers)+len(beside))
	for i, s := range servers {
		go func() {
			err := s.Serve(listeners[i])
			if errors.Is(err, http.ErrServerClosed) {
				err = nil
			}
			cancel()
			ended <- err
		}()
	}
	for _, run := range beside {
		go func() {
			err := run(ctx)
			if errors.Is(err, context.Canceled) {
				err = nil
			}
			cancel()
			ended <- err
		}()
	}
	<-ctx.Done()
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), roomEnd)
	defer stop()
	var errs []error
	for _, s := range servers {
		if err := s.Shutdown(last); err != nil {
			_ = s.Close() // what is sent still is cut off
		}
	}
	for range len(servers) + len(beside) {
		errs = append(errs, <-ended)
	}
	return errors.Join(errs...)
}
