// Package derive keeps derivations: what is worked out of a segment after it was archived. A step is a function of one capture; what it says of the captures
// of a segment is one more sidecar of it, under the name and version of the step, with a manifest that is put last and only if there is none. Segments are never changed, and
// what is derived can be deleted and derived again: the same step makes the same bytes of the same segment.
package derive
