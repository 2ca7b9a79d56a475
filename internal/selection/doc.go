// Package selection keeps what people select of an archive: a named list of entries that only grows. An entry has rules, decisions of
// people, or proposals that somebody has accepted; the last decision of a person wins over rules and proposals. Nothing of a segment
// is ever changed. A State is what the entries up to a number amount to: it says of each capture if it is kept, dropped or open, and
// why.
package selection
