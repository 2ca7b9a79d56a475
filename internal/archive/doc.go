// Package archive stores segments: what one batch leaves forever. A segment is a WARC object, its
// CDXJ and its links sidecar; the manifest that names them is put last and only if there is none yet,
// and so commits them. Objects that no manifest names do not exist for readers.
package archive
