// Command webworld-serve serves a synthetic web until SIGTERM or SIGINT. When it is ready, it prints one line of JSON with
// the seeds, the topic, the port and the IP of each host; at the end it prints its measurements.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/signal"
	"syscall"

	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/internal/webworld/faults"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "webworld-serve:", err)
		os.Exit(1)
	}
}

func run() error {
	var o webworld.Options
	kind := flag.String("kind", "demo", "demo, bench, faults or heavy")
	hosts := flag.Int("hosts", 500, "hosts of a bench or heavy world")
	pages := flag.Int("pages", 40, "pages a host of a bench world")
	shared := flag.Int("shared", 0, "IPs that two of three hosts of a bench world share; 0: each host has its own")
	list := flag.Bool("truth", false, "put the ground truth of all pages into the first line")
	flag.Uint64Var(&o.Seed, "seed", 1, "same seed, same world")
	flag.IntVar(&o.Port, "port", 0, "port on every IP; 0 picks a free one")
	flag.IntVar(&o.Scale, "scale", 1, "size of a demo world; 1 is about 250 pages")
	flag.DurationVar(&o.Latency, "latency", 0, "wait before each response")
	flag.TextVar(&o.FirstIP, "first-ip", netip.AddrFrom4([4]byte{127, 77, 0, 1}), "IP of the first site")
	flag.Parse()

	w, err := choose(*kind, o, *hosts, *pages, *shared)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := w.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	if err := announce(w, *list); err != nil {
		return err
	}
	<-ctx.Done()
	if err := w.Close(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(w.Stats())
}

func choose(kind string, o webworld.Options, hosts, pages, shared int) (*webworld.World, error) {
	switch kind {
	case "demo":
		return webworld.NewDemo(o), nil
	case "bench":
		return bench.NewShared(o, hosts, pages, shared), nil
	case "faults":
		return faults.New(o), nil
	case "heavy":
		return faults.NewHeavy(o, hosts), nil
	}
	return nil, fmt.Errorf("unknown kind of world: %q", kind)
}

func announce(w *webworld.World, truth bool) error {
	ready := struct {
		Seeds   []string              `json:"seeds"`
		Topic   []string              `json:"topic"`
		Port    int                   `json:"port"`
		Resolve map[string]netip.Addr `json:"resolve"`
		Pages   []webworld.Page       `json:"pages,omitempty"`
	}{Seeds: w.Seeds(), Topic: w.Topic(), Port: w.Port(), Resolve: w.Resolve()}
	if truth {
		ready.Pages = w.Pages()
	}
	return json.NewEncoder(os.Stdout).Encode(ready)
}
