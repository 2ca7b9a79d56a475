package webworld

import (
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestImpolite(t *testing.T) {
	t.Parallel()
	const rest, slowDelay = 100 * time.Millisecond, time.Second
	delay := func(host string) time.Duration {
		if host == "slow" {
			return slowDelay
		}
		return 0
	}
	type ask struct {
		ip         byte
		host       string
		from, upTo int // milliseconds
		how        string
	}
	for _, test := range []struct {
		name   string
		asks   []ask
		faults []string
	}{
		{"polite", []ask{{1, "a", 0, 50, ""}, {1, "b", 150, 160, ""}, {2, "slow", 20, 30, ""}, {2, "c", 160, 170, ""}, {2, "slow", 1030, 1040, ""}}, nil},
		{"too early at the address", []ask{{1, "a", 0, 50, ""}, {1, "b", 149, 160, ""}}, []string{"127.0.0.1, want 100ms"}},
		{"too early at the host", []ask{{1, "slow", 0, 10, ""}, {2, "slow", 1009, 1020, ""}}, []string{"slow, want 1s"}},
		{"too early at the host, others between", []ask{{1, "slow", 0, 10, ""}, {1, "a", 200, 210, ""}, {1, "slow", 400, 410, ""}}, []string{"slow, want 1s"}},
		{"at once", []ask{{1, "a", 0, 500, ""}, {1, "b", 300, 310, ""}, {1, "a", 420, 430, ""}}, []string{"127.0.0.1, want 100ms", "127.0.0.1, want 100ms", "a, want 100ms"}},
		{"in progress", []ask{{1, "a", 0, 0, "live"}, {1, "b", 3000, 3010, ""}}, []string{"127.0.0.1, want 100ms"}},
		{"cut", []ask{{1, "a", 0, 0, "cut"}, {1, "a", 100, 110, ""}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var trace []Asked
			zero := time.Unix(0, 0)
			at := func(ms int) time.Time { return zero.Add(time.Duration(ms) * time.Millisecond) }
			for _, a := range test.asks {
				trace = append(trace, Asked{
					IP: netip.AddrFrom4([4]byte{127, 0, 0, a.ip}), Host: a.host, Began: at(a.from), Ended: at(a.upTo), Live: a.how == "live", Cut: a.how == "cut",
				})
			}
			got := Impolite(trace, rest, delay)
			if len(got) != len(test.faults) {
				t.Fatalf("%d faults: %v", len(got), got)
			}
			for i, want := range test.faults {
				if !strings.Contains(got[i], want) {
					t.Errorf("%q is not in %s", want, got[i])
				}
			}
		})
	}
}
