package learning

import (
	"fmt"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/order"
)

// BenchmarkExchange is what a page costs its worker to be sent, and another one to be taken and learned from: pages of 400 words with a link to each.
func BenchmarkExchange(b *testing.B) {
	store := newStore(b)
	from, to := newRig(b, store, "a", nil), newRig(b, store, "b", nil)
	const pages = 100
	var body strings.Builder
	for i := range 400 {
		fmt.Fprintf(&body, "word%d ", i*i%7919)
	}
	text := words(body.String())
	from.edit = func(p *order.Page) { p.Text = text }
	spent := map[*rig]float64{}
	for b.Loop() {
		b.StopTimer()
		from.commit(pages)
		b.StartTimer()
		for _, r := range []*rig{from, to} {
			start := cputime.Used()
			r.step()
			spent[r] += float64((cputime.Used() - start).Microseconds())
		}
	}
	bytes := 0
	for _, o := range objects(b, store) {
		bytes += int(o.Size)
	}
	all := float64(b.N * pages)
	b.ReportMetric(spent[from]/all, "µs-sent/page")
	b.ReportMetric(spent[to]/all, "µs-taken/page")
	b.ReportMetric(float64(bytes)/all, "bytes/page")
}
