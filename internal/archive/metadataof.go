package archive

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// MetadataOf is what a metadata record says of a capture, as far as it is of use without its page.
type MetadataOf struct {
	Via         string
	Path        string // hop letters from the seed on, without its own
	Title       string
	Language    string
	Application string
	Level       string
	Undecoded   string
	Robots      string // what the page asks of robots
}

// How much of a metadata record is read, in bytes: what is said of the page stands before its objects and outlinks.
const (
	maxMetadata = 64 << 10
	maxLists    = 16 << 20 // if the lists are wanted
)

// ReadMetadata reads the block of a metadata record. Fields that it does not know are passed over, and so is a line that is no field. link, if it is not nil, is called with
// each outlink and its hop letter, and with what a browser has loaded for the page, as embedded (E); url is valid until it returns. Without it, the block is read up to
// its lists.
func ReadMetadata(block io.Reader, link func(url []byte, hop string)) (MetadataOf, error) {
	m := MetadataOf{}
	fields := map[string]*string{
		"via": &m.Via, "hopsFromSeed": &m.Path, "title": &m.Title, "language": &m.Language, "muninn-application": &m.Application,
		"muninn-level": &m.Level, "muninn-undecoded": &m.Undecoded, "muninn-robots": &m.Robots,
	}
	most := int64(maxMetadata)
	if link != nil {
		most = maxLists
	}
	lines := bufio.NewReaderSize(io.LimitReader(block, most), 4<<10)
	var long []byte
	for {
		line, err := lines.ReadSlice('\n')
		for long = long[:0]; errors.Is(err, bufio.ErrBufferFull); line, err = lines.ReadSlice('\n') {
			long = append(long, line...)
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		name, value, ok := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case !ok:
		case string(name) == "outlink":
			if link == nil {
				return m, nil
			}
			url, rest, _ := bytes.Cut(bytes.TrimSpace(value), []byte(" "))
			hop, _, _ := bytes.Cut(rest, []byte(" "))
			link(url, string(hop))
		case string(name) == "muninn-object" && link == nil:
			return m, nil
		case string(name) == "muninn-loaded" && link != nil:
			link(bytes.TrimSpace(value), "E")
		case fields[string(name)] != nil:
			*fields[string(name)] = strings.ToValidUTF8(string(value), "\uFFFD")
		}
		if err == io.EOF {
			return m, nil
		}
		if err != nil {
			return m, err
		}
	}
}
