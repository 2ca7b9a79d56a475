// Package version reports which build this is.
package version

import "runtime/debug"

// Number is the version of Muninn.
const Number = "0.1.0"

// Software is what WARC files say of their maker.
func Software() string { return "Muninn/" + Number + " (https://github.com/muninn-archive/muninn)" }

// Build is the revision that the program was built from, if it is known.
func Build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
