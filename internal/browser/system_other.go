//go:build !linux

package browser

import (
	"os"
	"os/exec"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// separate does nothing where there are no namespaces: the browser's proxy and resolver lead nowhere.
func separate(*exec.Cmd, bool) {}

// denied is of no use there.
func denied(error) bool { return false }

// killAll kills a browser; its processes end when they notice that.
func killAll(p *os.Process) { _ = p.Kill() }

// usageOf is not known: memory is not bounded.
func usageOf(int, bool) usage { return usage{} }

func lacksShared(crawl.Bytes) bool { return true }
