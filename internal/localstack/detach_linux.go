package localstack

import (
	"os/exec"
	"syscall"
)

// detach keeps a terminal's Ctrl-C from the server, which must outlive the worker's draining, and
// makes the server end if this program is killed.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
