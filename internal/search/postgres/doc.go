// Package postgres is the full-text index in PostgreSQL, of version 15 or later, for archives that several machines serve. Terms are made
// here, as for the index in a folder, and stored as lexemes of tsvector, so that both find the same; texts are not stored. The rank is
// PostgreSQL's ts_rank, which counts words and their distance, but knows not how rare a word is.
package postgres
