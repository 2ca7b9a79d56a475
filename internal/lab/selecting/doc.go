// Package selecting measures how well the helper of selections learns what an archivist keeps: the labels of a recorded web are the
// archivist's mind, which answers one question after the other.
package selecting
