//go:build !linux

package browser

import "os/exec"

// separate does nothing where there are no namespaces: the browser's proxy and resolver lead nowhere.
func separate(*exec.Cmd, bool) {}

// usageOf is not known: memory is not bounded.
func usageOf(int) usage { return usage{} }
