// Package terms turns texts into the terms that the full-text index has, and words of queries into those that they may have become. A
// word becomes its stem in the language of its page, with that language in front ("en:hous"), so that a word of a query meets the pages of
// each language in the form that their words have. Words of languages without a stemmer, and words with digits, are in lower case without
// accents. Scripts without blanks between words give single characters and pairs of them (bigrams).
package terms
