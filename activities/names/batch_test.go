package names

import (
	"math"
	"strings"
	"testing"
)

// TestBatchNames: a name says which claim, worker and epoch a batch is of, and gives its workflow an ID of its own. Those of earlier
// versions are read.
func TestBatchNames(t *testing.T) {
	for _, c := range []struct {
		batch    BatchName
		name, id string
	}{
		{BatchName{"example.org-17", "w", 0}, "example.org-17@w.0", "crawl/c/example.org/17@w.0"},
		{BatchName{"xn--bcher-kva.example-1732252525123", "worker-1.eu-2", 12}, "xn--bcher-kva.example-1732252525123@worker-1.eu-2.12", "crawl/c/xn--bcher-kva.example/1732252525123@worker-1.eu-2.12"},
		{BatchName{"[2001:db8::1]-9", "w-7", math.MaxUint64}, "[2001:db8::1]-9@w-7.18446744073709551615", "crawl/c/[2001:db8::1]/9@w-7.18446744073709551615"},
		{BatchName{"a_b!c.example-1", "w.3", 3}, "a_b!c.example-1@w.3.3", "crawl/c/a_b!c.example/1@w.3.3"},
		{BatchName{"example.org-17", "", 0}, "example.org-17", "crawl/c/example.org/17"}, // of an earlier version
	} {
		if got := c.batch.String(); got != c.name {
			t.Errorf("%+v is named %q, want %q", c.batch, got, c.name)
		}
		if got, err := ParseBatch(c.name); got != c.batch || err != nil {
			t.Errorf("%q is read as %+v, %v", c.name, got, err)
		}
		if got := c.batch.PLD() + "/"; !strings.HasPrefix(c.id, "crawl/c/"+got) {
			t.Errorf("%q is of the PLD %q", c.name, got)
		}
		if got, is := BatchOf("c", c.id); got != c.name || !is {
			t.Errorf("%q is the ID of %q, %t", c.id, got, is)
		}
		if got := BatchID("c", c.name); got != c.id {
			t.Errorf("%q has the ID %q, want %q", c.name, got, c.id)
		}
	}
	for _, name := range []string{"", "b", "-1", "a/b-1", "a-1@", "a-1@w", "a-1@w.", "a-1@.1", "a-1@w.x", "a-1@w.01", "a-1@w.18446744073709551616", "a-1@v@w.1", "a-1@w/x.1", "a@w.1", "a-1@w.1\n"} {
		if b, err := ParseBatch(name); err == nil {
			t.Errorf("%q is read as %+v", name, b)
		}
	}
}

// TestLongBatchNames: the longest PLD, worker, number and epoch give a name that leaves room for what the names of the archive's
// objects have beside it, and is of the form.
func TestLongBatchNames(t *testing.T) {
	pld := strings.Repeat("a", 61) + strings.Repeat("."+strings.Repeat("b", 63), 3)
	long := BatchName{pld + "-9223372036854775807", strings.Repeat("w", 64), math.MaxUint64}
	name := long.String()
	if len(name) > MaxBatchName {
		t.Errorf("%d bytes, at most %d: %s", len(name), MaxBatchName, name)
	}
	usual := BatchName{pld + "-1732252525123", strings.Repeat("w", 64), 1_000_000}.String()
	if object := usual + "-0123456789abcdef-0123456789abcdef.objects.zst"; len(object) > 255 {
		t.Errorf("%d bytes: %s", len(object), object)
	}
	for _, name := range []string{name, usual, BatchName{strings.Repeat("a.", 100) + "-1", "w", 0}.String()} {
		if _, err := ParseBatch(name); err != nil || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
