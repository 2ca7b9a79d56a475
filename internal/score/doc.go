// Package score judges pages and links by a topic (paper §4.2, online analysis). Analysers look at a page, at its links,
// or at both: the terms of document, paragraph and anchor, the form and the words of URLs, names, host and folder, language, age,
// signs of spam, the score that a page was submitted with, the expectation of the helper. Each gives a score in [0,1], or is
// silent. The score of a link is their mean, with the weights of the definition; the single scores are stored as its parts.
package score
