package archive_test

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"path/filepath"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestDigests: payloads and blocks have digests of the algorithm of the definition. In each, a page with the same payload is a revisit, captures without a
// body are none, a 304 refers to a page of another algorithm, the checker finds no fault, and the index has the digest of the records.
func TestDigests(t *testing.T) {
	for _, test := range []struct{ algorithm, want, empty string }{
		{"", sha1Text("<p>one"), sha1Text("")}, {crawl.DigestSHA1, sha1Text("<p>one"), sha1Text("")}, {crawl.DigestSHA256, sha256Text("<p>one"), sha256Text("")},
	} {
		t.Run("algorithm "+test.algorithm, func(t *testing.T) {
			dir := t.TempDir()
			store, err := archive.OpenDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			earlier := plain("http://a.example/earlier", "<p>of an earlier run")
			earlier.Started = epoch.AddDate(-1, 0, 0)
			before, originals := segment(t, "earlier", unknown, earlier) // with SHA-1
			if _, err := before.Commit(t.Context(), store); err != nil {
				t.Fatal(err)
			}
			of := label("b-1")
			of.Digest = test.algorithm
			s, err := archive.NewSegment(t.TempDir(), of, epoch, unknown)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			same := plain("http://a.example/earlier", "")
			same.Status, same.Outcome.Kind, same.Outcome.Visit = 304, crawl.OutcomeUnmodified, originals[0].Visit
			_, dns := everything(t)
			if err := s.Resource(dns); err != nil {
				t.Fatal(err)
			}
			digests := map[string]string{}
			for i, c := range []archive.Capture{
				plain("http://a.example/one", "<p>one"), plain("http://a.example/again", "<p>one"), plain("http://a.example/empty", ""), plain("http://a.example/empty/too", ""), same,
			} {
				rec, err := s.Add(c)
				if err != nil || rec.Revisit != (i == 1 || i == 4) {
					t.Errorf("%s: %+v, %v", c.URL, rec, err)
				}
				want := []string{test.want, test.want, test.empty, test.empty, originals[0].Digest}[i]
				if digests[c.URL] = rec.Digest; rec.Digest != want {
					t.Errorf("%s has the digest %s, want %s", c.URL, rec.Digest, want)
				}
			}
			m, err := s.Commit(t.Context(), store)
			if err != nil {
				t.Fatal(err)
			}
			check(t, dir)
			err = archive.ReadIndex(t.Context(), store, m.CDXJ.Key, func(i archive.Indexed) error {
				if i.Digest != digests[i.URL] {
					t.Errorf("the index has %s of %s, the record %s", i.Digest, i.URL, digests[i.URL])
				}
				delete(digests, i.URL)
				return nil
			})
			if err != nil || len(digests) > 0 {
				t.Errorf("not in the index: %v, %v", digests, err)
			}
			others := 0
			err = archive.ReadWARC(filepath.Join(dir, m.WARC.Key), 0, func(archive.Captured) (bool, error) { others++; return true, nil })
			if err != nil || others != m.Records {
				t.Errorf("%d of %d records are read, %v", others, m.Records, err)
			}
		})
	}
}

func sha1Text(text string) string {
	sum := sha1.Sum([]byte(text))
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

func sha256Text(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + base32.StdEncoding.EncodeToString(sum[:])
}
