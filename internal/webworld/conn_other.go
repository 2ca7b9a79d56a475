//go:build !unix

package webworld

// hungUp is not known on this system until a read or write fails.
func (c *Conn) hungUp() bool { return false }
