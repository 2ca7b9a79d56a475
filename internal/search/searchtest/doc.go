// Package searchtest says what a full-text index must do. Each implementation of search.Index runs its suite, which compares answers with
// those that query.Match gives for all documents one by one.
package searchtest
