//go:build !unix

package cputime

import "time"

var begun = time.Now()

// Used stands for the processor time that this process has used, where the system does not report it: the time since it began.
func Used() time.Duration { return time.Since(begun) }
