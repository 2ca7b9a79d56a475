package archivecheck

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Samples of other tools' WARC files, with the number of records that are read before the error, if there is one. The
// number of records of good files is the count of their version lines.
var samples = []struct {
	path    string
	records int
	err     error
}{
	{"ia-gowarc/testdata/warcs/single-record.warc.gz.open", 1, nil},
	{"ia-gowarc/testdata/warcs/test.warc.gz", 3, nil},
	{"jwarc/test-resources/org/netpreserve/jwarc/cc.warc.gz", 1, nil},
	{"jwarc/test-resources/org/netpreserve/jwarc/gzip_extra_sl.warc.gz", 1, nil}, // an extra field in the gzip header
	{"py-wacz/tests/fixtures/example-collection-with-lists.warc", 38, nil},
	{"py-wacz/tests/fixtures/example-collection.warc", 4, nil},
	{"py-wacz/tests/fixtures/example-iana.warc", 118, nil},
	{"py-wacz/tests/fixtures/example-resource.warc.gz", 3, nil},
	{"py-wacz/tests/fixtures/example-warcinfo-metadata.warc", 4, nil},
	{"solrwayback/src/test/resources/compressions_warc/transfer_compression_brotli.warc.gz", 5, nil},
	{"solrwayback/src/test/resources/compressions_warc/transfer_compression_gzip.warc.gz", 5, nil},
	{"solrwayback/src/test/resources/compressions_warc/transfer_compression_gzip_chunked.warc.gz", 3, nil},
	{"solrwayback/src/test/resources/compressions_warc/transfer_compression_none.warc.gz", 5, nil},
	{"solrwayback/src/test/resources/example_warc/IAH-20080430204825-00000-blackbook.warc.gz", 822, nil}, // WARC/0.17
	{"warcio/test/data/example-resource.warc.gz", 3, nil},
	{"warcio/test/data/example-space-in-target-uri.warc.gz", 2, nil},
	{"warcio/test/data/example-wget-bad-target-uri.warc.gz", 6, nil},
	{"warcio/test/data/example.warc.gz", 6, nil},
	{"warcio/test/data/post-test.warc.gz", 6, nil},
	{"webarchive-commons/src/test/resources/org/archive/format/gzip/IAH-urls-wget.warc.gz", 36, nil},

	// several records in one member, though some projects count them as good
	{"ia-gowarc/testdata/warcs/good.warc.gz.open", 0, ErrRecord},
	{"ia-gowarc/testdata/warcs/skip-non-open.warc.gz", 0, ErrRecord},
	{"ia-gowarc/testdata/warcs/corrupted-mid-record.warc.gz.open", 0, ErrRecord},
	{"ia-gowarc/testdata/warcs/corrupted-trailing-bytes.warc.gz.open", 0, ErrRecord},
	{"warcio/test/data/example-bad-non-chunked.warc.gz", 0, ErrRecord},
	{"warcio/test/data/example-bad.warc.gz.bad", 0, ErrRecord},
	{"warcio/test/data/example-wrong-chunks.warc.gz", 0, ErrRecord}, // a record over several members
	{"ia-gowarc/testdata/warcs/empty.warc.gz.open", 0, ErrRecord},
	{"warcio/test/data/example.arc.gz", 0, ErrRecord},
	{"webarchive-commons/src/test/resources/org/archive/format/gzip/abcd.gz", 0, ErrRecord},
	{"webarchive-commons/src/test/resources/org/archive/format/gzip/hi-2.gz", 0, ErrRecord},

	{"solrwayback/src/test/resources/compressions_warc/transfer_compression_none_truncated.warc.gz", 2, ErrMember},
	{"webarchive-commons/src/test/resources/org/archive/format/gzip/double-single-inflate-error.gz", 0, ErrMember},
	{"warcio/test/data/example.warc", 0, ErrMember}, // not compressed
}

func TestSamples(t *testing.T) {
	root := os.Getenv("MUNINN_TESTDATA")
	if root == "" {
		t.Skip("MUNINN_TESTDATA is not set: no conformance samples")
	}
	for _, s := range samples {
		t.Run(filepath.Base(s.path), func(t *testing.T) {
			f, err := os.Open(filepath.Join(root, "conformance/warc", s.path))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			records := 0
			err = ReadRecords(f, func(r Record) error {
				records++
				if want, err := parseDigest(r.Headers.Get("WARC-Block-Digest")); err == nil && digestOf(want.alg(), r.Block) != want {
					t.Errorf("the block at %d has another digest than %s", r.Offset, r.Headers.Get("WARC-Block-Digest"))
				}
				return nil
			})
			if !errors.Is(err, s.err) {
				t.Errorf("error %v, want %v", err, s.err)
			}
			if records != s.records {
				t.Errorf("%d records, want %d", records, s.records)
			}
		})
	}
}
