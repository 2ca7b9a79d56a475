//go:build race

package aah

// raced tells that the race detector is at work.
const raced = true
