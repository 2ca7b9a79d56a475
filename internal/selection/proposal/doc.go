// Package proposal helps people to select: a Pool holds the captures that a selection may keep; a Model learns from the decisions so
// far which of them people want, and proposes the rest with its certainty; Next says which pages to ask about, and Measured how good
// the proposals are on decisions that were held back. All of it is deterministic: the same candidates and decisions give the same
// proposals.
package proposal
