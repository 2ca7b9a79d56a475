package starter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/room"
	"github.com/muninn-archive/muninn/internal/room/views"
)

// The limits of a search on the command line.
const (
	searchAnswer = 64 << 20            // bytes of an answer of a server
	searchTime   = 2 * time.Minute     // that an answer may take
	searchPage   = 100                 // hits that the room gives at a time
	searchShow   = 2 * time.Second     // between two lines of progress
	localRoom    = "http://127.0.0.1/" // of requests that no network carries
)

// asker asks the JSON of a reading room. Both a server and the views of this process answer it, so that both say the same.
type asker func(ctx context.Context, q url.Values) (status int, body []byte, err error)

// newServerAsker asks a server. It follows no redirect: the token is for this server.
func newServerAsker(server, token string) (asker, error) {
	base, err := url.Parse(server)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil || base.RawQuery != "" {
		return nil, cli.Usage("--server: %q must be an address such as http://127.0.0.1:8480", server)
	}
	client := &http.Client{Timeout: searchTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return func(ctx context.Context, q url.Values) (int, []byte, error) {
		at := base.JoinPath("search")
		at.RawQuery = q.Encode()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
		if err != nil {
			return 0, nil, err
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := client.Do(req)
		if err != nil {
			return 0, nil, fmt.Errorf("ask the reading room at %s: %w", server, err)
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(io.LimitReader(resp.Body, searchAnswer+1))
		if err == nil && len(body) > searchAnswer {
			err = fmt.Errorf("its answer has more than %d bytes: ask for fewer hits (--limit)", searchAnswer)
		}
		if err != nil {
			err = fmt.Errorf("ask the reading room at %s: %w", server, err)
		}
		return resp.StatusCode, body, err
	}, nil
}

// newLocalAsker asks a room of views that are open here, without a network.
func newLocalAsker(v *views.Views) asker {
	h := room.New(room.Config{Door: room.NewDoor(room.Rules{}, v, v.Index, time.Now), Crawls: v.Crawls, State: v.State, PDF: v.PDF, Log: v.Log}).Handler()
	return func(ctx context.Context, q url.Values) (int, []byte, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, localRoom+"search?"+q.Encode(), nil)
		if err != nil {
			return 0, nil, err
		}
		a := &answered{head: http.Header{}}
		h.ServeHTTP(a, req)
		return a.status, a.body.Bytes(), ctx.Err()
	}
}

// answered is an http.ResponseWriter that keeps the answer.
type answered struct {
	head   http.Header
	status int
	body   bytes.Buffer
}

func (a *answered) Header() http.Header { return a.head }

func (a *answered) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answered) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// found asks for as many pages of hits as are needed.
func (s *searching) found(ctx context.Context, ask asker, text string) (*found, error) {
	size := s.limit
	if size > searchPage || s.offset%size != 0 {
		size = searchPage
	}
	out := &found{Query: text, Offset: s.offset, Hits: []room.Hit{}}
	for page := s.offset / size; ; page++ {
		counts := page == s.offset/size && (s.facets || s.histogram)
		a, err := s.page(ctx, ask, text, page+1, size, counts)
		if err != nil {
			return nil, err
		}
		if counts {
			s.take(out, a)
		}
		out.Total = a.Total
		hits := a.Hits[min(len(a.Hits), max(0, s.offset-page*size)):]
		for i := range hits {
			hits[i].Address = "" // of the room alone
		}
		out.Hits = append(out.Hits, hits[:min(len(hits), s.limit-len(out.Hits))]...)
		if len(out.Hits) == s.limit || len(a.Hits) < size {
			return out, nil
		}
	}
}

// take takes facets and histogram, as far as they are asked for.
func (s *searching) take(out *found, a *roomAnswered) {
	if s.facets {
		out.Facets = a.Facets
	}
	if s.histogram {
		out.Histogram, out.By = a.Histogram, a.By
	}
}

func (s *searching) page(ctx context.Context, ask asker, text string, page, size int, counts bool) (*roomAnswered, error) {
	q := url.Values{"q": {text}, "page": {strconv.Itoa(page)}, "hits": {strconv.Itoa(size)}, "format": {"json"}}
	if !counts {
		q.Set("counts", "no")
	}
	status, body, err := ask(ctx, q)
	if err != nil {
		return nil, err
	}
	var a roomAnswered
	errJSON := json.Unmarshal(body, &a)
	switch {
	case status == http.StatusUnauthorized:
		return nil, errors.New("the reading room asks for its token: set MUNINN_ROOM_TOKEN to it")
	case status != http.StatusOK && errJSON == nil && len(a.Error) > 0:
		return nil, a.fault(text)
	case status != http.StatusOK:
		return nil, fmt.Errorf("the reading room answers %d %s", status, http.StatusText(status))
	case errJSON != nil:
		return nil, fmt.Errorf("what answers is no reading room: %w", errJSON)
	}
	return &a, nil
}

// fault is what the room says is wrong.
func (a *roomAnswered) fault(text string) error {
	var of struct {
		At      int    `json:"at"`
		Message string `json:"message"`
	}
	if json.Unmarshal(a.Error, &of) == nil && of.Message != "" {
		return cli.Usage("query, character %d: %s\n%s", of.At+1, shownText(of.Message), pointed(text, of.At))
	}
	var said string
	_ = json.Unmarshal(a.Error, &said)
	if a.Status == http.StatusBadRequest {
		return cli.Usage("%s", shownText(said))
	}
	return fmt.Errorf("the reading room answers %d: %s", a.Status, shownText(said))
}

// upToDate adds to the views what the archives have and they lack, and says how far it is. lacks says what cannot be added.
func upToDate(ctx context.Context, v *views.Views, report io.Writer) (lacks, err error) {
	ended := make(chan error, 1)
	go func() { ended <- v.Pass(ctx) }()
	tick := time.NewTicker(searchShow)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if faults := v.State().Faults; err == nil && len(faults) > 0 {
				err = errors.New(shownText(faults[0]))
			}
			if err != nil {
				lacks = fmt.Errorf("the answer is not of the whole archive: %w", err)
			}
			return lacks, nil
		case <-tick.C:
			s := v.State()
			fmt.Fprintf(report, "bringing the views up to date: %d of %d segments\n", s.Viewed, s.Segments)
		}
	}
}
