// Package score judges pages and links by a topic (paper §4.2, online analysis). Analysers look at a page, at its links,
// or at both: terms of document, paragraph and anchor against the topic's, the form and the words of URLs, names, host
// and folder, language, age, signs of spam, what a page was submitted with, what the helper expects. Their scores are
// in [0,1], are averaged with the user's weights over those that spoke, and are kept as parts.
package score
