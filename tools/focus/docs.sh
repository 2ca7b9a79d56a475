#!/bin/sh
# Measures the orders of crawling on documentation that Debian packages as HTML: no setting was chosen on these webs. It
# fetches three packages, makes recorded webs of them, and writes tables to BIN/focus-docs.
#
#   tools/focus/docs.sh BIN [LAB-OPTION…]
set -eu
bin=$1
shift
out=$bin/focus-docs
mkdir -p "$out/packages"
fetch() { # NAME PACKAGE
	[ -d "$out/packages/$1" ] && return
	(cd "$out/packages" && apt-get download "$2" && dpkg -x "$2"_*.deb "$1.part" && mv "$1.part" "$1")
}
web() { # NAME PACKAGE [SELECTOR of what every page has and every page links to]
	fetch "$1" "$2"
	[ -f "$out/$1/pages.tsv" ] || go run ./internal/lab/collections "$1" --from "$out/packages/$1" --out "$out/$1" ${3:+--without "$3"}
}
web cppreference cppreference-doc-en-html .t-navbar
web linux linux-doc-6.1 nav.wy-nav-side
web qt qtbase5-doc-html
for name in cppreference linux qt; do
	"$bin/muninn-lab" focus "$out/$name" "$@" > "$out/$name.txt"
	cat "$out/$name.txt"
done
