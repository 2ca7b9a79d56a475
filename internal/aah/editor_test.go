package aah

import (
	"testing"

	"github.com/muninn-archive/muninn/kb"
)

// TestAddressIsNoAuthor: a wiki names the network address of an editor who has no account. It is not the author.
func TestAddressIsNoAuthor(t *testing.T) {
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	h := New(base, DefaultLimits())
	for editor, want := range map[string]string{"127.0.0.1": "", "2001:db8::7": "", "hugo": "hugo", "12 ravens": "12 ravens", "feed:me": "feed:me"} {
		d := read(h, "http://wiki.test/doku.php?id=raven", `<html><head><title>raven [Aviary]</title><meta name="generator" content="DokuWiki"></head><body>
<div id="dokuwiki__content"><div class="page"><h1>Raven</h1><p>It talks to Odin.</p></div><div class="docInfo"><bdi>raven.txt</bdi> · Last modified: 2026/11/21 09:15 by <bdi>`+editor+`</bdi></div></div></body></html>`, Input{})
		if len(d.Objects) != 1 || d.Objects[0].Properties.Get("author") != want {
			t.Errorf("of a page that %q has changed: %+v", editor, d.Objects)
		}
	}
}
