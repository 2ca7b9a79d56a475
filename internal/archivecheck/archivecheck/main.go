// Archivecheck checks a Muninn archive directory and prints what it holds and what is wrong with it.
// It exits with 1 if anything is, or if the check could not be done.
//
//	archivecheck DIR
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/muninn-archive/muninn/internal/archivecheck"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit code: 0 without faults, 1 with, 2 for a wrong command line.
func run(args []string, out, errs io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(errs, "usage: archivecheck DIR")
		return 2
	}
	report, err := archivecheck.CheckDir(args[0])
	if err != nil {
		fmt.Fprintln(errs, "archivecheck:", err)
		return 1
	}
	printReport(out, report)
	if len(report.Faults) > 0 {
		return 1
	}
	return 0
}

func printReport(w io.Writer, r archivecheck.Report) {
	fmt.Fprintf(w, "segments %d, bytes %d\n", r.Segments, r.Bytes)
	fmt.Fprintf(w, "records %d: warcinfo %d, response %d, revisit %d, request %d, metadata %d, resource %d\n",
		r.Records, r.Warcinfo, r.Responses, r.Revisits, r.Requests, r.Metadata, r.Resources)
	fmt.Fprintf(w, "pages %d (%d captures), robots.txt %d (%d captures)\n",
		len(r.Pages), sum(r.Pages), len(r.Robots), sum(r.Robots))
	fmt.Fprintf(w, "chunked responses: payload digest of the decoded body %d, of the bytes of the wire %d\n",
		r.ChunkedDecoded, r.ChunkedRaw)
	fmt.Fprintf(w, "orphans %d\n", len(r.Orphans))
	for _, o := range r.Orphans {
		fmt.Fprintln(w, "  "+o)
	}
	fmt.Fprintf(w, "faults %d\n", len(r.Faults))
	for _, f := range r.Faults {
		fmt.Fprintln(w, "  "+f)
	}
}

func sum(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}
