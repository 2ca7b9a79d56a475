// Package postgres is the full-text index in PostgreSQL, of version 15 or later, for archives that several machines serve. Terms are made
// here, as for the index in a folder, and stored as lexemes of tsvector, so that both find the same; texts are not stored. The rank is the sum of
// PostgreSQL's ts_rank over the words of a query, each weighed by how rare it is: PostgreSQL does not count that, so there is a table of it.
package postgres
