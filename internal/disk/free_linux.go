package disk

import "syscall"

func free(path string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(existing(path), &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * s.Bsize, nil
}
