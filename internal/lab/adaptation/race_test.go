//go:build race

package adaptation

// raced reports that the race detector is at work.
const raced = true
