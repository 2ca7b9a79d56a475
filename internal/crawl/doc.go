// Package crawl is the vocabulary of Muninn: the crawl definition that an archivist writes, and the
// plain records that the parts hand to each other. It does no I/O and imports nothing of the project.
package crawl
