// Package floors holds the test that keeps the walls of ARCHITECTURE.md: which package may import
// which, and which outside library each may use.
package floors
