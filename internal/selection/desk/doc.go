// Package desk is what a server knows of the selections of its archives: it reads their entries, works out beside requests what is kept,
// how large groups are and what the model proposes, keeps that, and appends the decisions of people, each once. Captures that visitors may
// not see are neither counted nor learned from.
package desk
