//go:build race

package adaptation

// raced tells that the race detector is at work.
const raced = true
