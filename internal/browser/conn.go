package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
)

// conn speaks the DevTools protocol with a browser: messages of JSON, each of which ends with a zero byte. What a browser says is bounded, since a page has its part in it.
type conn struct {
	out   io.WriteCloser
	heard func(session, event string, params []byte) // is called for each event, by the goroutine that reads: it must not wait
	write sync.Mutex

	mu      sync.Mutex
	last    int64 // ID of a command
	waiting map[int64]chan<- message
	why     error         // it has ended
	ended   chan struct{} // closed when there is a why
}

// message is a command, an answer to one, or an event.
type message struct {
	ID      int64           `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *fault          `json:"error,omitempty"`
}

// fault is an answer to a command that the browser has refused.
type fault struct {
	Message string `json:"message"`
}

var errLong = fmt.Errorf("the page had the browser send a message of more than %d MiB", maxMessage>>20)

// connect reads what a browser says until it ends.
func connect(in io.Reader, out io.WriteCloser, heard func(session, event string, params []byte)) *conn {
	c := &conn{out: out, heard: heard, waiting: map[int64]chan<- message{}, ended: make(chan struct{})}
	go func() {
		err := c.read(bufio.NewReaderSize(in, 64<<10))
		c.mu.Lock()
		c.why = err
		c.mu.Unlock()
		close(c.ended)
		_ = out.Close()
	}()
	return c
}

func (c *conn) read(in *bufio.Reader) error {
	var raw []byte
	for {
		part, err := in.ReadSlice(0)
		switch {
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		case len(raw)+len(part) > maxMessage:
			return errLong
		}
		raw = append(raw, part...)
		if err != nil {
			continue
		}
		var m message
		if err := json.Unmarshal(raw[:len(raw)-1], &m); err != nil {
			return fmt.Errorf("the browser sent no JSON: %w", err)
		}
		if raw = raw[:0]; cap(raw) > 1<<20 {
			raw = nil
		}
		if m.Method != "" {
			c.heard(m.Session, m.Method, m.Params)
			continue
		}
		c.mu.Lock()
		waits := c.waiting[m.ID]
		delete(c.waiting, m.ID)
		c.mu.Unlock()
		if waits != nil {
			waits <- m // it has room for one
		}
	}
}

// call gives a command, and waits for the answer. The session is that of a page; empty: the browser's own.
func (c *conn) call(ctx context.Context, session, method string, params, result any) error {
	p, err := jsonv2.Marshal(params, jsonv2.AllowInvalidUTF8(true))
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	answer := make(chan message, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.waiting[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	raw, err := json.Marshal(message{ID: id, Session: session, Method: method, Params: p})
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.write.Lock()
	_, err = c.out.Write(append(raw, 0)) // it waits for a browser that does not read, until that is ended: see watch
	c.write.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		}
		return jsonv2.Unmarshal(m.Result, result, jsonv2.AllowInvalidUTF8(true))
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ended:
		return c.reason()
	}
}

// reason is why the connection has ended; nil: it has not.
func (c *conn) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// session is a page, or the browser itself.
type session struct {
	conn *conn
	id   string
}

// call gives a command of the protocol to a session.
func call[P, R any](ctx context.Context, s session, c cdp.Command[P, R], params P) (R, error) {
	var result R
	err := s.conn.call(ctx, s.id, c.Method, params, &result)
	return result, err
}

// do gives a command whose answer does not matter.
func do[P, R any](ctx context.Context, s session, c cdp.Command[P, R], params P) error {
	_, err := call(ctx, s, c, params)
	return err
}
