//go:build !unix

package focus

import "time"

var begun = time.Now()

// cpu stands for the processor time that this process has used, where the system does not tell: the time since it began.
func cpu() time.Duration { return time.Since(begun) }
