package archive

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// The footer of a links sidecar is a skippable frame of zstd (RFC 8878, §3.1.2), which decompressors pass over: JSON, its length in 4 bytes
// of little endian, and footerMagic. So a reader that knows the size of the file finds it from the end.
const (
	footerVersion = 1
	footerMagic   = "MUNINNLF"
	skippable     = 0x184D2A50 // magic number of a skippable frame
	skippableHead = 8          // bytes: the magic number, and the length of what follows
	footerTail    = 4 + len(footerMagic)
)

// footerGuess is how many bytes from the end are read at first: most footers are shorter.
const footerGuess = 4 << 10

// linksFooter says where the links to a partition stand. The frames stand from the start of the file on, one behind the other.
type linksFooter struct {
	Version int          `json:"version"`
	Sources int          `json:"sources"` // bytes of the first frame, which has linkSources; 0: there is none
	Frames  []linksFrame `json:"frames"`
}

// linksFrame is a frame that has links to some partitions, and no other.
type linksFrame struct {
	Bytes      int   `json:"bytes"`
	Links      int   `json:"links"`
	Partitions []int `json:"partitions"`
}

func (f *linksFooter) encode() []byte {
	text, err := json.Marshal(f)
	if err != nil {
		panic(err) // of integers
	}
	b := binary.LittleEndian.AppendUint32(nil, skippable)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)+footerTail))
	b = append(b, text...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	return append(b, footerMagic...)
}

// errFooter says that a footer cannot be believed.
var errFooter = errors.New("the footer of the links sidecar is damaged")

// readFooter reads the footer of a sidecar; nil if it has none, as those of former versions.
func readFooter(ctx context.Context, store Store, of Stored) (*linksFooter, error) {
	if of.Bytes == 0 { // former versions wrote nothing where there were no links
		return nil, nil
	}
	for want := int64(footerGuess); ; {
		from := max(of.Bytes-want, 0)
		raw, err := readRange(ctx, store, of.Key, from, of.Bytes-from)
		if err != nil {
			return nil, err
		}
		text, whole, err := footerText(raw)
		switch {
		case err != nil:
			return nil, damaged(fmt.Errorf("read %s: %w", of.Key, err))
		case whole == 0:
			return nil, nil
		case text == nil && from > 0:
			want = int64(whole)
			continue
		case text == nil:
			return nil, damaged(fmt.Errorf("read %s: %w: it is longer than the file", of.Key, errFooter))
		}
		var f linksFooter
		if err := json.Unmarshal(text, &f); err != nil {
			return nil, damaged(fmt.Errorf("read %s: %w: %w", of.Key, errFooter, err))
		}
		if f.Version != footerVersion {
			return nil, fmt.Errorf("read %s: the footer has version %d, this program reads %d: use a newer one", of.Key, f.Version, footerVersion)
		}
		return &f, nil
	}
}

// footerText finds the text of the footer at the end of a file, and the length of the whole frame; 0 if there is none. The text is nil if it begins
// before raw.
func footerText(raw []byte) (text []byte, whole int, err error) {
	if len(raw) < footerTail || string(raw[len(raw)-len(footerMagic):]) != footerMagic {
		return nil, 0, nil
	}
	n := int(binary.LittleEndian.Uint32(raw[len(raw)-footerTail:]))
	whole = skippableHead + n + footerTail
	if whole > len(raw) {
		return nil, whole, nil
	}
	frame := raw[len(raw)-whole:]
	if binary.LittleEndian.Uint32(frame) != skippable || int(binary.LittleEndian.Uint32(frame[4:])) != n+footerTail {
		return nil, whole, errFooter
	}
	return frame[skippableHead : skippableHead+n], whole, nil
}

// byteRange is a range of bytes of a file, to not included.
type byteRange struct{ from, to int64 }

// rangesTo are the parts of the file to read for the links to some partitions: the sources, and frames; those side by side in one.
func (f *linksFooter) rangesTo(to func(partition int) bool) (ranges []byteRange) {
	add := func(r byteRange) {
		if last := len(ranges) - 1; last >= 0 && ranges[last].to == r.from {
			ranges[last].to = r.to
			return
		}
		ranges = append(ranges, r)
	}
	at := int64(f.Sources)
	for _, frame := range f.Frames {
		end := at + int64(frame.Bytes)
		if slices.ContainsFunc(frame.Partitions, to) {
			if len(ranges) == 0 && f.Sources > 0 {
				add(byteRange{0, int64(f.Sources)})
			}
			add(byteRange{at, end})
		}
		at = end
	}
	return ranges
}

func readRange(ctx context.Context, store Store, key string, offset, length int64) (raw []byte, err error) {
	r, err := store.GetRange(ctx, key, offset, length)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	if raw, err = io.ReadAll(r); err == nil && int64(len(raw)) != length {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, damaged(fmt.Errorf("read %s: %w", key, err))
	}
	return raw, nil
}
