// Package sqlite is a catalogue in SQLite files of a folder: one with segments and DNS answers, and shards with captures, each of which
// has all captures of some pay-level domains. It is for one machine; several processes may read it, and one at a time writes.
package sqlite
