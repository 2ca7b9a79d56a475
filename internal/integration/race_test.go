//go:build race

package integration

// raceFactor is how many times as much memory a program takes under the race detector.
const raceFactor = 3
