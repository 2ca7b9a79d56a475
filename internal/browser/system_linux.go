package browser

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// separate has a browser end with the worker, be the first of its own process group, and run without network.
func separate(cmd *exec.Cmd, isolated bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
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

// denied reports whether the system gives the user no namespace without network.
func denied(err error) bool {
	for _, e := range []error{syscall.EPERM, syscall.EACCES, syscall.ENOSYS, syscall.EINVAL, syscall.ENOSPC, syscall.EUSERS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// killAll kills a browser with its processes.
func killAll(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	_ = p.Kill()
}

// clockTick is the unit of processor time in /proc, which is the same on all architectures of Linux.
const clockTick = 10 * time.Millisecond

// usageOf is what the processes of a group have taken: the memory, too, if that is asked for, which costs more.
func usageOf(group int, memory bool) (u usage) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return u
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		f := statOf(pid)
		if len(f) < 15 || f[2] != group {
			continue
		}
		u.cpu += time.Duration(f[11]+f[12]+f[13]+f[14]) * clockTick
		if memory {
			u.memory += memoryOf(pid)
		}
	}
	return u
}

// statOf are the numbers in the state of a process that follow its name; the first is a letter, and counts as 0.
func statOf(pid int) (list []int) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	for f := range bytes.FieldsSeq(raw[bytes.LastIndexByte(raw, ')')+1:]) {
		n, _ := strconv.Atoi(string(f))
		list = append(list, n)
	}
	return list
}

// memoryOf is what a process has of memory that the system cannot take away, and its part of what it shares; where its maps are not to be read, all of what it shares.
func memoryOf(pid int) int64 {
	folder := "/proc/" + strconv.Itoa(pid)
	if raw, err := os.ReadFile(folder + "/smaps_rollup"); err == nil {
		return max(kilobytes(raw, "Pss_Anon:")+kilobytes(raw, "Pss_Shmem:"), kilobytes(raw, "Pss_Dirty:")) + kilobytes(raw, "SwapPss:")
	}
	raw, err := os.ReadFile(folder + "/status")
	if err != nil {
		return 0
	}
	return kilobytes(raw, "RssAnon:") + kilobytes(raw, "RssShmem:") + kilobytes(raw, "VmSwap:")
}

// kilobytes is the value of a line such as "Pss: 12 kB", in bytes; 0 without it.
func kilobytes(raw []byte, name string) int64 {
	for line := range bytes.Lines(raw) {
		if rest, is := bytes.CutPrefix(line, []byte(name)); is {
			n, _ := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB")))), 10, 64)
			return n << 10
		}
	}
	return 0
}

// lacksShared reports whether the system's folder for shared memory has less room than a browser may take: Chromium then has its shared memory in its own folder.
func lacksShared(memory crawl.Bytes) bool {
	var s syscall.Statfs_t
	return syscall.Statfs("/dev/shm", &s) != nil || int64(s.Bavail)*s.Bsize < int64(memory)
}
