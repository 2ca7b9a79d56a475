// Package bleve is the full-text index of one machine, in a folder: an index of the library bleve for each crawl and month of capture, and one
// for the anchor texts of each crawl. Documents are built here, not by bleve's mappings, and what matches is collected here, too: bleve
// v2.6.1 takes the number of different terms for the length of texts when it ranks by BM25, and multiplies by idf twice in a conjunction.
// One process at a time has a folder open.
package bleve
