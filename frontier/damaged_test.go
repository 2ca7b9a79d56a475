package frontier

import (
	"fmt"
	"slices"
	"testing"
)

// TestDamagedMore: of objects that could not be read a run names the first ones, and knows the number of the others, each once however often it is noted, also after
// a restart. The next run begins without.
func TestDamagedMore(t *testing.T) {
	r := newRig(t, nil)
	note := func() {
		for i := range maxDamaged + 5 {
			r.must(r.NoteDamaged(fmt.Sprint("object ", i)))
		}
	}
	note()
	r.reopen()
	note()
	p, err := r.Crawl.Progress()
	r.must(err)
	if len(p.Damaged) != maxDamaged || p.DamagedMore != 5 {
		t.Errorf("%d are named, and %d more are known", len(p.Damaged), p.DamagedMore)
	}
	other := Damage{Damaged: append([]string{"another"}, p.Damaged[:2]...), DamagedMore: 2}
	if both := p.Damage.Add(other); len(both.Damaged) != maxDamaged || both.DamagedMore != 5+2+1 {
		t.Errorf("two workers: %d, and %d more", len(both.Damaged), both.DamagedMore)
	}
	if both := other.Add(p.Damage); !slices.Contains(both.Damaged, "another") || len(both.Damaged)+both.DamagedMore != maxDamaged+5+2+1 {
		t.Errorf("in the other order: %d, and %d more", len(both.Damaged), both.DamagedMore)
	}
	later := p.Damage.Add(Damage{Damaged: []string{"one more"}})
	if last := p.Damage.Join(later); len(last.Damaged) != maxDamaged || last.DamagedMore != 6 {
		t.Errorf("at two times: %d, and %d more", len(last.Damaged), last.DamagedMore)
	}
	r.must(r.End("owner"))
	r.must(r.begin("owner of the next run", nil))
	if p, err = r.Crawl.Progress(); err != nil || len(p.Damaged)+p.DamagedMore != 0 {
		t.Errorf("the next run: %+v, %v", p.Damage, err)
	}
}
