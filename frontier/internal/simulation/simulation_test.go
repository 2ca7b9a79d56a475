package simulation

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// TestCluster plays a crawl by 20 workers: they join one after the other, some leave, some are killed with their disks, some are cut off. At
// every moment an address has one connection at most, and no request comes before its delay is over; no page is archived twice;
// in the end every page that links lead to is archived, no claim has waited for longer than its turn, and no worker has had more than a twentieth
// more lanes than it may. Of what is scarce, lanes or addresses, nine tenths are in use.
func TestCluster(t *testing.T) {
	t.Run("own addresses", func(t *testing.T) { play(t, 1, 2_000, false) })
	t.Run("shared addresses", func(t *testing.T) { play(t, 1, 4_000, true) })
}

// TestLongCluster is the same with 40,000 sites, or MUNINN_SIMULATION, and other seeds.
func TestLongCluster(t *testing.T) {
	sites := 40_000
	if text := os.Getenv("MUNINN_SIMULATION"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		sites = n
	}
	t.Run("own addresses", func(t *testing.T) { play(t, 2, sites/4, false) })
	t.Run("shared addresses", func(t *testing.T) { play(t, 3, sites, true) })
}

func play(t *testing.T, seed uint64, sites int, share bool) {
	w := newWorld(t, seed, sites, share)
	for n := range 20 {
		w.after(time.Duration(n)*3*time.Second, func() { w.start(fmt.Sprint("w", n)) })
	}
	joined := 20
	var change func()
	change = func() {
		var alive []*worker
		for _, v := range w.workers {
			if v.alive && v.reaches() {
				alive = append(alive, v)
			}
		}
		if len(alive) < 15 {
			w.start(fmt.Sprint("w", joined))
			joined++
		} else {
			v := alive[w.random.IntN(len(alive))]
			switch w.random.IntN(4) {
			case 0:
				v.kill()
			case 1:
				w.ring.Leave(w.now, v.name, v.process)
			case 2:
				v.cutOff(w.now.Add(time.Duration(w.random.IntN(600)) * time.Second))
			case 3:
				w.start(fmt.Sprint("w", joined))
				joined++
			}
		}
		w.after(time.Duration(120+w.random.IntN(600))*time.Second, change)
	}
	w.after(5*time.Minute, change)
	w.watch()
	w.after(5*time.Minute, func() { w.measure(30 * time.Second) })
	w.run(10 * time.Hour)
	if w.pages != w.knownPages || !w.reachable() {
		t.Errorf("after %s %d of %d known pages are archived", w.since(), w.pages, w.knownPages)
	}
	if w.longest > time.Minute {
		t.Errorf("a claim has waited for %s longer than its turn", w.longest)
	}
	t.Logf("%d sites, %d pages, %s, %d workers were gone; %.1f %% of what is scarce are in use; %d asks were answered busy; a claim waited %s beyond its turn at most; a worker had %d lanes at most",
		sites, w.pages, w.since(), w.deaths, 100*w.used/w.could, w.refused, w.longest, w.most)
	if bound := 0.9; w.used < bound*w.could {
		t.Errorf("of what is scarce %.1f %% are in use, less than %.0f %%", 100*w.used/w.could, 100*bound)
	}
	if w.most > lanes+lanes/20 { // claims that wait are granted although all lanes are taken
		t.Errorf("a worker had %d lanes at a time, %d are allowed", w.most, lanes)
	}
}
