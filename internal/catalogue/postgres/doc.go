// Package postgres is a catalogue in a database of PostgreSQL, version 15 or later: for archives that several machines fill and read.
package postgres
