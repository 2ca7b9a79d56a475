//go:build race

package adaptation

// raced reports whether the race detector is on.
const raced = true
