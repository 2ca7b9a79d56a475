package starter

import (
	"strings"
	"testing"
)

// The help of run lists the flags that are used often first.
func TestHelpIsGrouped(t *testing.T) {
	cmd := root()
	var out strings.Builder
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs([]string{"run", "--help"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	topic, settings, connect := strings.Index(text, "--topic"), strings.Index(text, "Settings of the worker"), strings.Index(text, "--connect-timeout")
	if topic < 0 || settings < topic || connect < settings {
		t.Errorf("--topic at %d, settings at %d, --connect-timeout at %d in\n%s", topic, settings, connect, text)
	}
}

func TestLink(t *testing.T) {
	g := &globals{}
	g.temporal.Namespace, g.temporal.Address = "default", devTemporal
	if got := g.link("crawl/x"); got != "http://127.0.0.1:8233/namespaces/default/workflows/crawl%2Fx" {
		t.Error(got)
	}
	g.temporal.Address = "temporal.example.org:7233"
	if got := g.link("crawl/x"); got != "" {
		t.Error(got)
	}
	t.Setenv("MUNINN_UI", "https://ui.example.org/")
	if got := g.link("crawl/x"); got != "https://ui.example.org/namespaces/default/workflows/crawl%2Fx" {
		t.Error(got)
	}
}
