// Package candidates reads from an archive what a selection may keep: the captures of pages, with what is known of them. Segments are
// read, never changed.
package candidates
