//go:build unix

package frontier

import (
	"encoding/binary"
	"testing"

	"github.com/muninn-archive/muninn/frontier/internal/migrate"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
)

// formerRecord is the record of a waiting URL as format 1 has it: its state, position, the scores of one link, where it was found.
func formerRecord(u string, via record.Key, counter uint64) []byte {
	b := binary.AppendUvarint([]byte{byte(record.Waiting), 0, 1, 0x80, 0}, counter)
	b = append(b, 1)                    // link
	b = append(b, make([]byte, 4*4)...) // its score
	b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, via.PLD), via.URL)
	return codec.AppendText(codec.AppendText(b, "SLL"), u)
}

// BenchmarkMigrate brings a folder of format 1 into the present format, and reports what a known URL takes of time: a folder of 10^7
// is to be opened in minutes.
func BenchmarkMigrate(b *testing.B) {
	n := benchSize(b)
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		s, err := store.Open(dir, store.Options{NoSync: true})
		if err != nil {
			b.Fatal(err)
		}
		const part = 5000
		for from := 0; from < n; from += part {
			err := s.Update(func(tx store.Tx) error {
				for i, l := range benchLinks(from, part) {
					k, via := record.KeyOf(trusted(b, l.URL)), record.KeyOf(trusted(b, l.Via))
					key := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(store.Key("r\x00\x01"), k.PLD), k.URL)
					if err := tx.Set(key, formerRecord(l.URL, via, uint64(from+i))); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		if s, err = store.Open(dir, store.Options{}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := migrate.Up(b.Context(), s, migrate.Options{}); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/URL")
}
