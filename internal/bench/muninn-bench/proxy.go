package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
)

// startHost serves one page with links to all seeds: wget crawls each of several start URLs as a web of
// its own, again and again.
const startHost = "start.example"

// proxy forwards requests to the web's addresses by host name, for crawlers that cannot be configured
// to resolve names. It runs in this process, whose CPU time counts for no crawler.
func proxy(w *web) (address string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			host := r.In.URL.Hostname()
			r.Out.URL.Host = net.JoinHostPort(w.Resolve[host], strconv.Itoa(w.Port))
			r.Out.Host = r.In.Host
		},
	}
	server := &http.Server{Handler: http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if in.URL.Hostname() != startHost {
			forward.ServeHTTP(out, in)
			return
		}
		if in.URL.Path != "/" {
			http.NotFound(out, in)
			return
		}
		out.Header().Set("Content-Type", "text/html")
		for _, seed := range w.Seeds {
			_, _ = fmt.Fprintf(out, "<a href=%q>seed</a>\n", seed)
		}
	})}
	go func() { _ = server.Serve(l) }()
	return l.Addr().String(), func() { _ = server.Close() }, nil
}
