// Package text turns texts into terms and counts them. A Vocabulary splits a text into words and gives each word its term:
// stemmed, without accents, in lower case; stop words have none. A Tally counts the terms of a text by their numbers in a
// Lexicon, which is fast. Two types hold terms outside of a lexicon: a Vector by their text, for people and for topics, and
// a HashedVector by a hash of 32 bits, for the features that are stored with millions of URLs.
package text
