package worker

import "log/slog"

// warnOfShards says at the start what is not kept over several politeness shards: a lease is an address's, and a host is kept apart among the addresses of one shard. How long it rests, and
// how it is slowed down, all shards know.
func warnOfShards(log *slog.Logger, shards int) {
	if shards > 1 {
		log.Warn("politeness has several shards: two workers whose crawls want the same host may ask it at a time at addresses of different shards; each address has one lane, and rests and slow-downs of the host hold at all",
			"shards", shards, "avoid", "politeness-shards 1, see docs/OPERATING.md")
	}
}
