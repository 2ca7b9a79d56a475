package browser

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// separate has a browser end with the worker, and run without network.
func separate(cmd *exec.Cmd, isolated bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if !isolated {
		return
	}
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNET
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 { // only in a namespace of its own a user may have one without network
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	}
}

// clockTick is the unit of processor time in /proc, which is the same on all architectures of Linux.
const clockTick = 10 * time.Millisecond

// usageOf is what a process and its descendants have taken.
func usageOf(root int) (u usage) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return u
	}
	type process struct {
		parent int
		cpu    time.Duration
	}
	all := map[int]process{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if f := fields(pid, "stat"); len(f) > 14 {
			all[pid] = process{f[1], time.Duration(f[11]+f[12]+f[13]+f[14]) * clockTick}
		}
	}
	for pid, p := range all {
		at := pid
		for at != root && at > 1 {
			at = all[at].parent
		}
		if at != root {
			continue
		}
		u.cpu += p.cpu
		if f := fields(pid, "statm"); len(f) > 2 {
			u.memory += int64(f[1]-f[2]) * int64(os.Getpagesize())
		}
	}
	return u
}

// fields are the numbers in a file of a process: of stat those that follow its name.
func fields(pid int, file string) (list []int) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + file)
	if err != nil {
		return nil
	}
	if end := bytes.LastIndexByte(raw, ')'); end >= 0 {
		raw = raw[end+1:]
	}
	for f := range bytes.FieldsSeq(raw) {
		n, _ := strconv.Atoi(string(f)) // the state is a letter
		list = append(list, n)
	}
	return list
}
