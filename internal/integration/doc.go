// Package integration tests the whole: real crawls of synthetic webs, through a real Temporal dev
// server and its command line, into archives that archivecheck reads. The harness brings up what a
// test needs and takes it down again; tests that find no `temporal`, on PATH or in bin/, are skipped.
package integration
