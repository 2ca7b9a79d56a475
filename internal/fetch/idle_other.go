//go:build !unix

package fetch

import "syscall"

// noInputWaiting returns false: this system cannot report it, so no connection is used again.
func noInputWaiting(syscall.Conn) bool { return false }
