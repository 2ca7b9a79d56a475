// Package worldtest starts worlds in tests, and asks them for pages.
package worldtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"testing"
	"time"
)

// Start starts a world, and closes it after the test.
func Start[W interface {
	Start(ctx context.Context) error
	Close() error
}](t testing.TB, w W) W {
	t.Helper()
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// Client resolves the world's hosts, follows no redirects and reuses no connection unless asked.
func Client(w interface{ Resolve() map[string]netip.Addr }) *http.Client {
	resolve := w.Resolve()
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DisableCompression: true,
			MaxConnsPerHost:    0,
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				host, port, err := net.SplitHostPort(addr)
				if err != nil {
					return nil, err
				}
				ip, ok := resolve[host]
				if !ok {
					return nil, fmt.Errorf("no such host: %s", host)
				}
				return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(ip.String(), port))
			},
		},
	}
}

// Answer is a response that was read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Get gets a URL with header fields: names and values in turn.
func Get(t testing.TB, c *http.Client, url string, headers ...string) Answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.Do(req)
	if err != nil {
		t.Fatalf("get %s: %v", url, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("read %s: %v", url, err)
	}
	return Answer{res.StatusCode, res.Header, body}
}

// Whole gets a URL and reads the response to its end.
func Whole(ctx context.Context, c *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

// Eventually waits until a condition holds, two minutes at most.
func Eventually(t testing.TB, condition string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Errorf("after two minutes it does not hold that %s", condition)
			return
		}
	}
}
