// Package cputime measures the processor time of this process: what a computation takes, however busy the machine is with other
// things. Bounds of time in tests are on it, not on the time of day.
package cputime
