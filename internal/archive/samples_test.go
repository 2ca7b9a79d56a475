package archive_test

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
)

// sample is a file of the WARC conformance samples that is not read to its end without an error: how many records it has before, and what the
// error says.
type sample struct {
	records int
	says    string
}

const (
	noVersion = "not with a WARC version"
	noRecord  = "record 1: "
)

// brokenSamples are the samples that are damaged, or whose names make them look like WARC files.
var brokenSamples = map[string]sample{
	"ia-gowarc/testdata/warcs/corrupted-mid-record.warc.gz.open":                                   {12, "record 13: gzip: invalid header"},
	"ia-gowarc/testdata/warcs/corrupted-trailing-bytes.warc.gz.open":                               {30, "record 31: gzip: invalid header"},
	"solrwayback/src/test/resources/compressions_warc/transfer_compression_none_truncated.warc.gz": {3, "record 3: " + archive.ErrCutOff.Error()},
	"solrwayback/src/test/resources/example_warc/Evil-Warc-Headers.warc":                           {1, "record 1: " + archive.ErrCutOff.Error()}, // Content-Length is 6,000 of a file of 1,258 bytes
	"warcio/test/data/example-trunc.warc":                                                          {3, "record 4: it begins with \"\\x00\\x00\\r\\n"},
	"solrwayback/src/test/resources/example_arc/IAH-20080430204825-00000-blackbook.arc.gz":         {0, "ARC file"},
	"warcio/test/data/bad.arc":                  {0, "ARC file"},
	"warcio/test/data/example.arc":              {0, "ARC file"},
	"warcio/test/data/example.arc.gz":           {0, "ARC file"},
	"warcio/test/data/example-space-in-url.arc": {0, "ARC file"},
	"webarchive-commons/src/test/resources/org/archive/format/arc/IAH-20080430204825-00000-blackbook-truncated.arc": {0, "ARC file"},
	"webarchive-commons/src/test/resources/org/archive/format/gzip/abcd.gz":                                         {0, noVersion},
	"webarchive-commons/src/test/resources/org/archive/format/gzip/double-single-inflate-error.gz":                  {0, noVersion},
	"webarchive-commons/src/test/resources/org/archive/format/gzip/hi.gz":                                           {0, noVersion},
	"webarchive-commons/src/test/resources/org/archive/format/gzip/hi-2.gz":                                         {0, noVersion},
}

// goodSamples are WARC files with the number of their records, as warcio counts them or as their version lines are counted.
var goodSamples = map[string]int{
	"ia-gowarc/testdata/warcs/empty.warc.gz.open":                                                0,
	"ia-gowarc/testdata/warcs/good.warc.gz.open":                                                 50, // of several records in a member
	"ia-gowarc/testdata/warcs/single-record.warc.gz.open":                                        1,
	"ia-gowarc/testdata/warcs/skip-non-open.warc.gz":                                             10,
	"ia-gowarc/testdata/warcs/test.warc.gz":                                                      3,
	"jwarc/test-resources/org/netpreserve/jwarc/cc.warc.gz":                                      1,
	"jwarc/test-resources/org/netpreserve/jwarc/gzip_extra_sl.warc.gz":                           1, // an extra field in the header of gzip
	"py-wacz/tests/fixtures/example-collection-with-lists.warc":                                  38,
	"py-wacz/tests/fixtures/example-collection.warc":                                             4,
	"py-wacz/tests/fixtures/example-iana.warc":                                                   118,
	"py-wacz/tests/fixtures/example-resource.warc.gz":                                            3,
	"py-wacz/tests/fixtures/example-warcinfo-metadata.warc":                                      4,
	"solrwayback/src/test/resources/compressions_warc/transfer_compression_brotli.warc":          5,
	"solrwayback/src/test/resources/compressions_warc/transfer_compression_brotli.warc.gz":       5,
	"solrwayback/src/test/resources/compressions_warc/transfer_compression_gzip.warc":            5,
	"solrwayback/src/test/resources/compressions_warc/transfer_compression_gzip.warc.gz":         5,
	"solrwayback/src/test/resources/compressions_warc/transfer_compression_gzip_chunked.warc.gz": 3,
	"solrwayback/src/test/resources/compressions_warc/transfer_compression_none.warc":            5,
	"solrwayback/src/test/resources/compressions_warc/transfer_compression_none.warc.gz":         5,
	"solrwayback/src/test/resources/example_warc/IAH-20080430204825-00000-blackbook.warc.gz":     822, // WARC/0.17
	"warcio/test/data/example-bad-non-chunked.warc.gz":                                           6,   // compressed as a whole
	"warcio/test/data/example-bad.warc.gz.bad":                                                   6,   // likewise: bad for readers that seek
	"warcio/test/data/example-digest.warc":                                                       4,   // wrong digests, which are the checker's subject
	"warcio/test/data/example-iana.org-chunked.warc":                                             3,
	"warcio/test/data/example-resource.warc.gz":                                                  3,
	"warcio/test/data/example-space-in-target-uri.warc.gz":                                       2,
	"warcio/test/data/example-wget-bad-target-uri.warc.gz":                                       6,
	"warcio/test/data/example-wrong-chunks.warc.gz":                                              2, // a record over several members
	"warcio/test/data/example.warc":                                                              6,
	"warcio/test/data/example.warc.gz":                                                           6,
	"warcio/test/data/post-test.warc.gz":                                                         6,
	"webarchive-commons/src/test/resources/org/archive/format/gzip/empty.gz":                     0,
	"webarchive-commons/src/test/resources/org/archive/format/gzip/IAH-urls-wget.warc.gz":        36,
	"webarchive-commons/src/test/resources/org/archive/format/warc/IAH-urls-wget.warc":           36,
	"webarchive-commons/src/test/resources/org/archive/format/warc/mutliple-headers.warc":        1,
	"webarchive-commons/src/test/resources/org/archive/resource/html/link-extraction-test.warc":  8,
}

// TestSamples reads every file among the samples of other programs: the good ones whole, the broken ones up to a clear error. Files of other
// kinds are refused at their first bytes.
func TestSamples(t *testing.T) {
	data := os.Getenv("MUNINN_TESTDATA")
	if data == "" {
		t.Skip("MUNINN_TESTDATA is not set: no conformance samples")
	}
	root, met := filepath.Join(data, "conformance", "warc"), 0
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(root, file)
		name = filepath.ToSlash(name)
		records := 0
		err = archive.ReadWARC(file, 0, func(rec archive.Captured) (bool, error) {
			records++
			if _, err := io.Copy(io.Discard, rec.Block); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				return false, err
			}
			return true, nil
		})
		want, good := goodSamples[name]
		if good {
			met++
			if err != nil || records != want {
				t.Errorf("%s: %d records, %v; want %d", name, records, err, want)
			}
			return nil
		}
		broken, known := brokenSamples[name]
		switch {
		case known:
			met++
		case strings.HasSuffix(name, ".wacz"):
			broken.says = "WACZ"
		default: // licences, logs, indexes, pictures
			broken.says = noRecord
		}
		if err == nil || !strings.Contains(err.Error(), broken.says) || records != broken.records {
			t.Errorf("%s: %d records, error %v; want %d, %q", name, records, err, broken.records, broken.says)
		}
		return nil
	})
	if err != nil || met != len(goodSamples)+len(brokenSamples) {
		t.Errorf("%d of %d samples were met, %v", met, len(goodSamples)+len(brokenSamples), err)
	}
}

// TestSampleIndex compares the records of a sample with the index of another program that lies beside it, which has a line for each.
func TestSampleIndex(t *testing.T) {
	data := os.Getenv("MUNINN_TESTDATA")
	if data == "" {
		t.Skip("MUNINN_TESTDATA is not set: no conformance samples")
	}
	file := filepath.Join(data, "conformance", "warc", "solrwayback/src/test/resources/example_warc/IAH-20080430204825-00000-blackbook.warc.gz")
	index, err := os.ReadFile(file + ".cdx")
	if err != nil {
		t.Fatal(err)
	}
	byOffset := map[int]string{}
	for line := range strings.Lines(string(index)) {
		fields := strings.Fields(line)
		if offset, err := strconv.Atoi(fields[max(len(fields)-2, 0)]); err == nil && len(fields) == 11 {
			byOffset[offset] = fields[2]
		}
	}
	offsets, n := slices.Sorted(maps.Keys(byOffset)), 0
	err = archive.ReadWARC(file, 0, func(rec archive.Captured) (bool, error) {
		if n >= len(offsets) {
			return false, errors.New("more records than lines")
		}
		if want := byOffset[offsets[n]]; rec.URL != want && n > 0 { // the first is the warcinfo record
			t.Errorf("record %d is of %q, by the index of %q", n, rec.URL, want)
		}
		n++
		return true, nil
	})
	if err != nil || n != len(offsets) || n != goodSamples["solrwayback/src/test/resources/example_warc/IAH-20080430204825-00000-blackbook.warc.gz"] {
		t.Errorf("%d records, %d lines of the index, %v", n, len(offsets), err)
	}
}
