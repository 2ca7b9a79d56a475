// Package build fills a catalogue from an archive: segment by segment by the manifests, each once, as often as it is asked to. What
// it adds of a segment depends on the segment alone, so that a catalogue that is lost is built again as it was.
package build
