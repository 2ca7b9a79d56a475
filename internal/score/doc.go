// Package score judges pages and links by a topic (paper §4.2): the cosine of term vectors of the
// document, of the paragraph around a link and of its anchor, URL patterns, and what the helper
// expects; averaged with the user's weights over those parts that spoke. Scores are in [0,1].
package score
