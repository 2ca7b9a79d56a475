package checkpoint

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/semaphore"

	"github.com/muninn-archive/muninn/internal/archive"
)

// damage puts something else in place of an object.
func damage(t *testing.T, store archive.Store, key string, with func([]byte) []byte) {
	t.Helper()
	raw, err := archive.ReadAll(t.Context(), store, key, maxManifest)
	must(t, err)
	raw = with(slices.Clone(raw))
	must(t, store.Put(context.WithoutCancel(t.Context()), key, bytes.NewReader(raw), int64(len(raw))))
}

func flipped(raw []byte) []byte {
	raw[len(raw)/2] ^= 0x10
	return raw
}

func cutShort(raw []byte) []byte { return raw[:len(raw)/2] }

// TestPartitionsOfDamagedCheckpoints: whatever of the checkpoints cannot be read, the partitions are rebuilt, of an older checkpoint or of all segments.
func TestPartitionsOfDamagedCheckpoints(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, store archive.Store, newest, former Manifest){
		"an object of the newest is damaged": func(t *testing.T, store archive.Store, newest, former Manifest) {
			for p, o := range newest.Partitions {
				if former.Partitions[p].Key != o.Key {
					damage(t, store, o.Key, flipped)
					return
				}
			}
			t.Fatal("nothing has changed between the checkpoints")
		},
		"all objects of the newest are lost": func(t *testing.T, store archive.Store, newest, _ Manifest) {
			for _, o := range newest.Partitions {
				must(t, store.Delete(t.Context(), o.Key))
			}
		},
		"an object of both is cut off": func(t *testing.T, store archive.Store, newest, former Manifest) {
			for p, o := range former.Partitions {
				damage(t, store, o.Key, cutShort)
				if newest.Partitions[p].Key != o.Key {
					damage(t, store, newest.Partitions[p].Key, cutShort)
				}
				return
			}
		},
		"the manifest of the newest is cut off": func(t *testing.T, store archive.Store, newest, _ Manifest) {
			damage(t, store, newest.key(), cutShort)
		},
		"both manifests are of another version": func(t *testing.T, store archive.Store, newest, former Manifest) {
			for _, m := range []Manifest{newest, former} {
				damage(t, store, m.key(), func(raw []byte) []byte { return bytes.Replace(raw, []byte(`"version": 1`), []byte(`"version": 9`), 1) })
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSpreadWorker(t, 9)
			var made []Manifest
			for range 2 {
				for range 8 {
					w.run(true)
				}
				w.checkpointAll()
				m, err := Newest(t.Context(), w.store, "w")
				must(t, err)
				made = append(made, m)
			}
			for range 8 {
				w.run(true)
			}
			harm(t, w.store, made[1], made[0])
			f := opened(t, t.TempDir())
			must(t, partitionsOf(f, w.store).Run(t.Context(), every(0, 1)))
			sameKnowledge(t, together(t, w.Frontier), together(t, f))

			w.checkpointAll() // the next checkpoint takes nothing over from one that cannot be read
			m, err := Newest(t.Context(), w.store, "w")
			must(t, err)
			if !m.Taken.After(made[1].Taken) {
				t.Errorf("the newest checkpoint is of %s, the one before of %s", m.Taken, made[1].Taken)
			}
			if name != "the manifest of the newest is cut off" {
				return
			}
			for p, o := range m.Partitions {
				if o.Key == made[1].Partitions[p].Key {
					t.Errorf("partition %d is that of the checkpoint that cannot be read", p)
				}
			}
		})
	}
}

// TestRoomAhead: no more bytes are read ahead than there is room for, and each segment is given whole.
func TestRoomAhead(t *testing.T) {
	store := newRig(t).store
	room := semaphore.NewWeighted(10)
	for i, c := range []struct {
		bytes  int64
		frees  int64 // before
		memory bool
	}{{bytes: 7, memory: true}, {bytes: 4}, {bytes: 3, memory: true}, {bytes: 1}, {bytes: 7, frees: 7, memory: true}} {
		room.Release(c.frees)
		text := bytes.Repeat([]byte{byte('a' + i)}, int(c.bytes))
		key := fmt.Sprint("object-", i)
		must(t, store.Put(t.Context(), key, bytes.NewReader(text), c.bytes))
		s := segment{Manifest: archive.Manifest{Links: archive.Stored{Key: key, Bytes: c.bytes}}, store: store}
		taken, err := s.fetch(t.Context(), room)
		must(t, err)
		if (taken == c.bytes) != c.memory || taken != 0 && !c.memory {
			t.Errorf("object %d of %d bytes: %d are in memory", i, c.bytes, taken)
		}
		if c.memory {
			must(t, store.Delete(t.Context(), key))
		}
		if got, err := archive.ReadAll(t.Context(), s.store, key, 100); err != nil || !bytes.Equal(got, text) {
			t.Errorf("object %d is read as %q, %v", i, got, err)
		}
	}
}

// TestPartitionsOfDamagedSegments: segments of which a part cannot be read do not keep the partitions without an owner: these are rebuilt of the others, and what is
// damaged is named.
func TestPartitionsOfDamagedSegments(t *testing.T) {
	w := newSpreadWorker(t, 9)
	for range 9 {
		w.run(true)
	}
	last := func(kind string) (key string) {
		must(t, w.store.List(t.Context(), "c/", func(o archive.Object) error {
			if strings.HasSuffix(o.Key, kind) && !strings.Contains(o.Key, "-9@") {
				key = max(key, o.Key)
			}
			return nil
		}))
		return key
	}
	must(t, w.store.Delete(t.Context(), last(".links.zst")))
	damage(t, w.store, last(".cdxj"), func(raw []byte) []byte { return raw[:len(raw)-9] })
	damage(t, w.store, archive.Layout{Crawl: "c"}.Manifest(archive.SegmentName("a.example-9@w.7", "0000000000000009")), cutShort)
	f := opened(t, t.TempDir())
	must(t, partitionsOf(f, w.store).Run(t.Context(), every(0, 1)))
	was, now := together(t, w.Frontier), together(t, f)
	for url := range now {
		if _, known := was[url]; !known {
			t.Errorf("%s was not known", url)
		}
	}
	progress, err := f.Crawl("c").Progress()
	must(t, err)
	if len(now) < len(was)/3 || len(progress.Damaged) < 2 {
		t.Errorf("%d URLs of %d; damaged: %q", len(now), len(was), progress.Damaged)
	}
}
