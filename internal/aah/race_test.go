//go:build race

package aah

// raced reports whether the race detector is on.
const raced = true
