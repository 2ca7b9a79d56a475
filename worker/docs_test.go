package worker

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// docs/OPERATING.md has every setting with its default, and the example configuration has no others.
func TestSettingsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/OPERATING.md")
	if err != nil {
		t.Fatal(err)
	}
	conf := DefaultConfig()
	fs := pflag.NewFlagSet("worker", pflag.ContinueOnError)
	conf.Flags(fs)
	fs.VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(string(text), "| `"+f.Name+"` |") {
			t.Errorf("setting %s is not in docs/OPERATING.md", f.Name)
		}
	})
	if err := conf.Load("../deploy/worker.yaml"); err != nil {
		t.Errorf("deploy/worker.yaml: %v", err)
	}
	if conf.Name != "worker-1" || conf.S3.Endpoint == "" {
		t.Errorf("deploy/worker.yaml was not read: %+v", conf)
	}
}

func TestPrecedence(t *testing.T) {
	file := t.TempDir() + "/worker.yaml"
	if err := os.WriteFile(file, []byte("lanes: 3\nround: 4\nbody-bytes: 2MiB\ns3-secret-key: from-file\nresolve: [a.example=127.0.0.1]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MUNINN_ROUND", "5")
	t.Setenv("MUNINN_LINGER", "2s")
	conf := DefaultConfig()
	fs := pflag.NewFlagSet("worker", pflag.ContinueOnError)
	conf.Flags(fs)
	if err := fs.Parse([]string{"--linger", "1s"}); err != nil {
		t.Fatal(err)
	}
	if err := conf.Load(file); err != nil {
		t.Fatal(err)
	}
	if conf.Lanes != 3 || conf.Round != 5 || conf.Linger.Seconds() != 1 || conf.Fetch.BodyBytes != 2<<20 {
		t.Errorf("flag over environment over file: lanes %d, round %d, linger %s, body %s", conf.Lanes, conf.Round, conf.Linger, conf.Fetch.BodyBytes)
	}
	if conf.S3.SecretKey != "from-file" || conf.Resolve["a.example"] != "127.0.0.1" {
		t.Errorf("secret %q, resolve %v", conf.S3.SecretKey, conf.Resolve)
	}
}

func TestBadSettings(t *testing.T) {
	for text, want := range map[string]string{
		"lane: 3\n":           `"lane" is not known`,
		"lanes: many\n":       "setting lanes",
		"body-bytes: large\n": "setting body-bytes",
	} {
		file := t.TempDir() + "/worker.yaml"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		conf := DefaultConfig()
		fs := pflag.NewFlagSet("worker", pflag.ContinueOnError)
		conf.Flags(fs)
		if err := conf.Load(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q in it", text, err, want)
		}
	}
	conf := DefaultConfig()
	conf.Lanes, conf.Name, conf.Networks, conf.Resolve = 0, "a b", []string{"ten"}, map[string]string{"h": "x"}
	err := conf.Validate()
	for _, want := range []string{"lanes", "name", `allow-network "ten"`, "resolve h=x"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

// loaded is the default configuration with a file.
func loaded(t *testing.T, file string) Config {
	t.Helper()
	conf := DefaultConfig()
	conf.Flags(pflag.NewFlagSet("worker", pflag.ContinueOnError))
	if err := conf.Load(file); err != nil {
		t.Fatal(err)
	}
	return conf
}
