// Package query is the language in which people ask for captures and web objects: words, "phrases", -not, OR, parentheses and fields such
// as site:example.org or date:2025..2026. Parse reads a query, String writes it in its usual form, and Match answers it for one document in
// memory; indexes answer the same tree for all documents. docs/SEARCHING.md shows it to users.
package query
