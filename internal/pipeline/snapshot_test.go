package pipeline

import (
	"bytes"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/muninn-archive/muninn/internal/codec"
)

// TestSnapshotEncoding: a snapshot is encoded as earlier versions encoded it, with the modes of the library: archives hold such bytes.
func TestSnapshotEncoding(t *testing.T) {
	for _, s := range []snapshot{{}, {Topic: "ravens", Order: []byte{1, 0}, Memory: []byte("m")}} {
		former, err := cbor.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if now, err := codec.Marshal(s); err != nil || !bytes.Equal(now, former) {
			t.Errorf("%x, %v; before %x", now, err, former)
		}
	}
}
