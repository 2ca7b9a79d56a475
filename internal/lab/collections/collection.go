package main

import (
	"path"
	"slices"
	"strings"
)

// collection describes how a package becomes a recorded web. Pages are named by their paths below the root.
type collection struct {
	root         string                                // the folder of the pages in the package; may have wildcards
	site         func(page string) string              // the site that a page belongs to, such as a module
	label        func(page string, all pathSet) string // what a page is; "other" if it is nothing in particular
	seeds        []string                              // patterns of the pages that crawls begin at, as of path.Match
	pathElements string                                // selector of elements that spell the path of their page, to be left out
	titled       string                                // selector of elements whose title is the path of a page, to be left out
}

// pathSet are the paths of all pages.
type pathSet map[string]bool

// other is the label of pages that have no other label.
const other = "other"

// collections are the collections that can be made, by name.
var collections = map[string]collection{
	// The documentation of the Linux kernel, by Sphinx, on one site. Its labels are subsystems.
	"linux": {
		root:  "usr/share/doc/linux-doc-*/html",
		site:  func(string) string { return "linux" },
		label: subsystem,
		seeds: []string{"index.html"},
	},
	// The reference of C and C++ on cppreference.com, a wiki, on one site. Its labels are libraries. Links of a wiki have
	// the path of their target as title, and pages their own at the foot.
	"cppreference": {
		root:         "usr/share/cppreference/doc/html",
		site:         func(string) string { return "cppreference" },
		label:        library,
		seeds:        []string{"en/index.html"},
		pathElements: ".printfooter",
		titled:       "a[title]",
	},
	// The documentation of Qt, by QDoc, a site for each module. Its labels are kinds of pages, which all sites have.
	"qt": {
		root:  "usr/share/qt5/doc",
		site:  func(page string) string { return first(page) },
		label: kind,
		seeds: []string{"*/qt*-index.html", "qmake/qmake-manual.html"},
	},
}

// first is the first folder of a path; the name of a file that is in no folder.
func first(page string) string {
	folder, _, _ := strings.Cut(page, "/")
	return folder
}

// books are the folders of the kernel's documentation for a group of readers. They have a folder for each subsystem.
var books = []string{"admin-guide", "driver-api", "userspace-api", "core-api"}

// subsystem labels a page of the kernel's documentation with its folder, or with the folder in a book, if there is one:
// admin-guide/media, driver-api/media and userspace-api/media all have the label media.
func subsystem(page string, _ pathSet) string {
	folders := strings.Split(path.Dir(page), "/")
	switch {
	case folders[0] == "." || folders[0] == "translations":
		return other
	case slices.Contains(books, folders[0]) && len(folders) > 1:
		return folders[1]
	}
	return folders[0]
}

// library labels a page of cppreference.com: en/cpp/numeric/…, en/c/numeric/… and the pages that list them are of one library.
func library(page string, _ pathSet) string {
	parts := strings.Split(page, "/")
	if len(parts) < 3 {
		return other
	}
	name, _, _ := strings.Cut(parts[2], ".")
	switch name {
	case "index", "links", "comment", "comments", "compiler_support":
		return other
	}
	return name
}

// kind labels a page of Qt's documentation. QDoc names pages by their kinds; a class has a page with a list of its members.
func kind(page string, all pathSet) string {
	name := strings.TrimSuffix(page, ".html")
	switch {
	case strings.Contains(name, "-attribution-"):
		return "attribution"
	case strings.HasSuffix(name, "-members"):
		return "members"
	case strings.HasSuffix(name, "-obsolete"):
		return "obsolete"
	case strings.HasSuffix(name, "-example"):
		return "example"
	case all[name+"-members.html"]:
		return "class"
	}
	return other
}
