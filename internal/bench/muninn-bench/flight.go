package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The web of -flight answers each request after flightLatency: so all batches are fetched at a time. Each host has flightPages pages.
const (
	flightLatency = 30 * time.Second
	flightPages   = 4
)

// flightSettings have a worker put each claim into a batch of its own, and so many on their way; nothing ends a lane that waits.
func flightSettings(batches int) string {
	return fmt.Sprintf("--lanes %d --bundle-plds 1 --batch-time 30m --first-byte 5m --robots-timeout 5m --address-hold 0", batches)
}

// flown is what was seen of a worker while many batches were in flight.
type flown struct {
	batches, goroutines int
	rss, heap           int64 // bytes
}

// metrics of a worker, with what they are taken into.
var flownMetrics = map[string]func(*flown, float64){
	"muninn_spool_batches":          func(f *flown, v float64) { f.batches = int(v) },
	"go_goroutines":                 func(f *flown, v float64) { f.goroutines = int(v) },
	"process_resident_memory_bytes": func(f *flown, v float64) { f.rss = int64(v) },
	"go_memstats_heap_alloc_bytes":  func(f *flown, v float64) { f.heap = int64(v) },
}

// flight has one worker carry o.flight batches at a time, and prints what it takes. The crawl runs to its end, so that the pages of all are parsed,
// scored, archived and committed, too.
func flight(ctx context.Context, o options) error {
	o.hosts, o.pages, o.latency = o.flight, flightPages, flightLatency
	o.worker = flightSettings(o.flight) + " " + o.worker
	w, err := serveWeb(ctx, o)
	if err != nil {
		return err
	}
	defer w.stop()
	fmt.Printf("web: %d hosts x %d pages, each request is answered after %s\n", o.hosts, o.pages, o.latency)
	data := filepath.Join(o.dir, "flight")
	bound := oneRing(w, 0)
	p, err := launchAll(ctx, o, w, data, bound)
	defer p.stop()
	if err == nil {
		err = p.awaitRings(ctx)
	}
	if err != nil {
		return err
	}
	worker := p.workers[0]
	before, serving := worker.used(), p.server.used()
	if err := p.start(ctx, o, w, bound[0]); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		ended <- p.await(ctx, o, bound[0])
	}()
	most, err := watchFlight(worker.listen, ended)
	if err != nil {
		return err
	}
	used, server := worker.used()-before, p.server.used()-serving
	worker.stop()
	events, err := countEvents(ctx, p.address, p.rings)
	if err != nil {
		return err
	}
	p.stop()
	pages, err := archived(p.store)
	if err != nil {
		return err
	}
	n := max(events.batches(), 1)
	fmt.Printf("most batches in flight on one worker: %d; RSS then %d MB, heap %d MB, goroutines %d\n", most.batches, most.rss>>20, most.heap>>20, most.goroutines)
	fmt.Printf("the whole crawl: %d pages, %d batches; peak RSS of the worker %d MB, of the Temporal server %d MB; CPU a batch: %.1f ms of the worker, %.1f ms of the server\n",
		pages, events.batches(), worker.rss>>20, p.server.rss>>20, used.Seconds()*1000/float64(n), server.Seconds()*1000/float64(n))
	return nil
}

// watchFlight returns what a worker was like when it had most batches in flight, once its crawl has ended.
func watchFlight(listen string, ended <-chan error) (most flown, err error) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return most, err
		case <-tick.C:
		}
		in, err := http.Get("http://" + listen + "/metrics")
		if err != nil {
			return most, err
		}
		now, err := readFlown(in.Body)
		_ = in.Body.Close()
		if err != nil {
			return most, err
		}
		if now.batches > most.batches || now.batches == most.batches && now.rss > most.rss {
			most = now
		}
	}
}

func readFlown(in io.Reader) (out flown, err error) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if take := flownMetrics[name]; take != nil {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return out, err
			}
			take(&out, v)
		}
	}
	return out, lines.Err()
}
