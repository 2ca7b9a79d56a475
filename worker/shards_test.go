package worker

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// TestWarnOfShards: a worker says what several shards cannot do; one shard can.
func TestWarnOfShards(t *testing.T) {
	for shards, warns := range map[int]bool{1: false, 4: true} {
		var out bytes.Buffer
		warnOfShards(slog.New(slog.NewTextHandler(&out, nil)), shards)
		if text := out.String(); strings.Contains(text, "level=WARN") != warns || strings.Contains(text, "shards=4") != warns {
			t.Errorf("%d shards: %q", shards, text)
		}
	}
}
