//go:build !linux

package localstack

import "os/exec"

func detach(*exec.Cmd) {}
