// Package catalogtest is the conformance suite of catalogue.Catalogue: what every implementation must do, as tests that any of them
// can run, and the benchmarks by which they are compared.
package catalogtest
