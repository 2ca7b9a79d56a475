// Package search finds captures and web objects by their words. It has the contract of a full-text index, which two packages below it
// fulfil (bleve for one machine, postgres for several), what they share (documents, ranking, facets, answers), the filling of an index from
// the derivation of texts, and snippets. An index is a view: it is filled segment by segment, and one that is lost is filled again. It keeps
// no texts. docs/architecture/search.md has the reasons and what was measured.
package search
