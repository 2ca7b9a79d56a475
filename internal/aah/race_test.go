//go:build race

package aah

// raced reports that the race detector is at work.
const raced = true
