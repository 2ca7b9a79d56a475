package activities

import (
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// The time before which a host must not be asked is read from the grant, the claim and the log.
func TestNotBefore(t *testing.T) {
	now := time.Unix(1000, 0)
	in := func(s int) time.Time { return now.Add(time.Duration(s) * time.Second) }
	tests := []struct {
		name  string
		claim frontier.Claim
		last  *crawl.Exchange
		want  time.Time
	}{
		{"a fresh lease", frontier.Claim{NotBefore: in(1)}, nil, in(1)},
		{"cut off in this process, before anything was logged", frontier.Claim{NotBefore: in(1), HostNotBefore: in(10)}, nil, in(10)},
		{"cut off in this process", frontier.Claim{NotBefore: in(1), HostNotBefore: in(10)}, &crawl.Exchange{Pause: 3 * time.Second}, in(10)},
		{"killed", frontier.Claim{NotBefore: in(-60)}, &crawl.Exchange{Pause: 3 * time.Second}, in(3)},
		{"killed, with a log of before pauses were written", frontier.Claim{NotBefore: in(-60)}, &crawl.Exchange{}, in(2)},
		{"what was owed is over", frontier.Claim{NotBefore: in(-60), HostNotBefore: in(-30)}, nil, in(-30)},
	}
	for _, test := range tests {
		if got := notBefore(now, test.claim, test.last, 2*time.Second); !got.Equal(test.want) {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
