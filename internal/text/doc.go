// Package text turns texts into terms and counts them. A Vocabulary cuts a text into words and gives each word its term:
// stemmed, without accents, in small letters; stop words have none. A Tally counts the terms of a text by their numbers in a
// Lexicon, which is what is fast. Two types hold terms outside of that: a Vector by their text, for people and for topics, and
// a HashedVector by a hash of 32 bits, for what is stored by the million with URLs.
package text
