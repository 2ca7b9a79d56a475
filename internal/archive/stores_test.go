package archive_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/archive/storetest"
)

func openDir(t *testing.T) archive.Store {
	t.Helper()
	s, err := archive.OpenDir(filepath.Join(t.TempDir(), "new", "archive"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDir(t *testing.T) { storetest.Run(t, openDir, storetest.Options{Large: 8 << 20}) }

func TestDirRefusesKeys(t *testing.T) {
	root := t.TempDir()
	s, err := archive.OpenDir(filepath.Join(root, "archive"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"", ".", "..", "../escape", "a/../../escape", "/abs", "a//b", "a/", "a/.new-1"} {
		if err := s.Put(t.Context(), key, strings.NewReader("x"), 1); err == nil {
			t.Errorf("put took the key %q", key)
		}
		if err := s.PutIfAbsent(t.Context(), key, []byte("x")); err == nil {
			t.Errorf("put if absent took the key %q", key)
		}
		if r, err := s.Get(t.Context(), key); err == nil {
			_ = r.Close()
			t.Errorf("get took the key %q", key)
		}
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the archive lie %v, %v", entries, err)
	}
}

// An archive directory that is a file, or cannot be created, is refused when it is opened.
func TestDirCannotBeOpened(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{file, filepath.Join(file, "below")} {
		if _, err := archive.OpenDir(where); err == nil {
			t.Errorf("%s was opened", where)
		}
	}
	if _, err := archive.Open(t.Context(), "ftp://example.org/x", archive.S3{}); err == nil {
		t.Error("ftp was opened")
	}
}

// testS3 reads how the S3 server of the tests is reached.
func testS3(t *testing.T) (conf archive.S3, bucket string) {
	t.Helper()
	conf = archive.S3{
		Endpoint: os.Getenv("MUNINN_TEST_S3"), AccessKey: os.Getenv("MUNINN_TEST_S3_ACCESS_KEY"),
		SecretKey: os.Getenv("MUNINN_TEST_S3_SECRET_KEY"), Region: "us-east-1",
	}
	if conf.Endpoint == "" {
		t.Skip("MUNINN_TEST_S3 is not set: tools/versitygw/with-s3.sh sets it")
	}
	return conf, os.Getenv("MUNINN_TEST_S3_BUCKET")
}

func TestS3(t *testing.T) {
	conf, bucket := testS3(t)
	opts := storetest.Options{}
	if os.Getenv("MUNINN_TEST_LARGE") != "" {
		opts.Large = 64<<20 + 5<<20 + 1
	}
	storetest.Run(t, func(t *testing.T) archive.Store {
		t.Helper()
		s, err := archive.Open(t.Context(), "s3://"+bucket+"/run-"+time.Now().Format("150405.000000000")+"/"+t.Name(), conf)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}, opts)
}

// Wrong settings are reported soon, with an error that names the setting.
func TestS3Misconfigured(t *testing.T) {
	conf, bucket := testS3(t)
	badKey, badSecret := conf, conf
	badKey.AccessKey = "nobody"
	badSecret.SecretKey = "wrong"
	for name, c := range map[string]struct {
		conf   archive.S3
		bucket string
		words  string
	}{
		"access key": {badKey, bucket, "MUNINN_S3_ACCESS_KEY"},
		"secret key": {badSecret, bucket, "MUNINN_S3_SECRET_KEY"},
		"bucket":     {conf, "no-such-bucket", "does not exist"},
	} {
		refused(t, name, c.conf, c.bucket, c.words)
	}
}

func TestS3Unreachable(t *testing.T) {
	// Nobody listens at port 1 of an address of no use to others: the port of a listener that was closed could be another process's.
	refused(t, "dead endpoint", archive.S3{Endpoint: "http://127.93.0.1:1", AccessKey: "a", SecretKey: "b"}, "bucket", "refused")
	refused(t, "no endpoint", archive.S3{AccessKey: "a", SecretKey: "b"}, "bucket", "MUNINN_S3_ENDPOINT")
}

func refused(t *testing.T, name string, conf archive.S3, bucket, words string) {
	t.Helper()
	began := time.Now()
	_, err := archive.OpenS3(t.Context(), conf, bucket, "")
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: the error is %q, without %q", name, err, words)
	}
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("%s: the answer took %v", name, took)
	}
}
