package export_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/export"
)

// TestS3: an export from S3 to S3 has the files of one from a folder to a folder.
func TestS3(t *testing.T) {
	conf := archive.S3{Endpoint: os.Getenv("MUNINN_TEST_S3"), AccessKey: os.Getenv("MUNINN_TEST_S3_ACCESS_KEY"), SecretKey: os.Getenv("MUNINN_TEST_S3_SECRET_KEY"), Region: "us-east-1"}
	if conf.Endpoint == "" {
		t.Skip("MUNINN_TEST_S3 is not set: tools/versitygw/with-s3.sh sets it")
	}
	open := func(prefix string) archive.Store {
		s, err := archive.OpenS3(t.Context(), conf, os.Getenv("MUNINN_TEST_S3_BUCKET"), t.Name()+"/"+prefix)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	source := t.TempDir()
	world(t, openDir(t, source))
	from, to := open("archive"), open("exports")
	err := filepath.WalkDir(source, func(file string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		key, err := filepath.Rel(source, file)
		if err != nil {
			return err
		}
		return from.Put(t.Context(), filepath.ToSlash(key), f, archive.UnknownSize)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []export.Format{export.WARC, export.WACZ} {
		o := order("c", "d")
		o.Size, o.Format = 6000, format
		run(t, from, to, o)
		dir := t.TempDir()
		run(t, openDir(t, source), openDir(t, dir), o)
		for name, want := range files(t, dir) {
			got, err := archive.ReadAll(t.Context(), to, name, 1<<20)
			if err != nil || string(got) != want {
				t.Errorf("%s: %d bytes, want %d; %v", name, len(got), len(want), err)
			}
		}
	}
}
