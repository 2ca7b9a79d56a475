// Package integration tests Muninn as a whole: real crawls of synthetic webs, with a real Temporal dev
// server and its command line, into archives that archivecheck reads. The harness starts what a test
// needs and stops it again; tests are skipped if there is no `temporal` on PATH or in bin/.
//
// Tests run side by side, each with a server, a web and a worker of its own. They wait for what should come about, never for a
// time; a limit of minutes stands for "never". A test whose name begins with TestLong is a long proof: `make test` leaves it out,
// `make proofs` runs it.
package integration
