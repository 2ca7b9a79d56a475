// Collections makes recorded webs of documentation that Debian packages as HTML, for measuring orders of crawling on webs
// that no setting was chosen on. It reads a package that was unpacked, and writes a folder that `muninn-lab focus` reads:
//
//	apt-get download linux-doc-6.1 && dpkg -x linux-doc-6.1_*.deb PACKAGE
//	go run ./internal/lab/collections linux --from PACKAGE --out WEB
//	go run ./internal/lab/collections cppreference --from PACKAGE --out WEB    # cppreference-doc-en-html
//	go run ./internal/lab/collections qt --from PACKAGE --out WEB              # qtbase5-doc-html
//
// The folder or the name of a page's file gives its label. A crawler must not see it: all URLs are numbers, in the list of the
// pages and in their links. Otherwise the pages are unchanged; --without leaves out elements that a CSS selector finds, such as
// the sidebar that every page has.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	err := run(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "collections:", err)
		os.Exit(1)
	}
}

// run makes the collection that the first argument names.
func run(args []string, out io.Writer) error {
	known := strings.Join(slices.Sorted(maps.Keys(collections)), ", ")
	if len(args) == 0 {
		return fmt.Errorf("name a collection: %s", known)
	}
	flags := flag.NewFlagSet("collections "+args[0], flag.ContinueOnError)
	from := flags.String("from", "", "folder with the unpacked package")
	to := flags.String("out", "", "folder that the recorded web is written to")
	without := flags.String("without", "", "CSS selector of elements that are left out of the pages")
	if strings.HasPrefix(args[0], "-") {
		args = append([]string{""}, args...) // no name, but perhaps --help
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	c, found := collections[args[0]]
	if !found {
		return fmt.Errorf("there is no collection %q; known: %s", args[0], known)
	}
	if *from == "" || *to == "" || flags.NArg() > 0 {
		return errors.New("write NAME --from DIR --out DIR")
	}
	made, err := c.make(*from, *to, *without)
	if err != nil {
		return err
	}
	return made.report(out)
}
