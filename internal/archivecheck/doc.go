// Package archivecheck checks a Muninn archive, in a directory or in a store, without any of the code that wrote it.
//
// It reads gzip members (RFC 1952), WARC records (ISO 28500:2017, WARC/1.1), HTTP heads, CDXJ lines
// and manifests by hand, so that a mistake shared by the writer and its WARC library is still seen.
// Faults of the archive are sentences in [Report.Faults]; an error means the check itself could not
// be done.
//
// The layout it expects, for each crawl NAME, below whatever prefix:
//
//	NAME/segments/<batch>.json              the manifest, which commits the segment; <batch> is batch and nonce
//	NAME/data/<batch>-<hash>.warc.gz        one gzip member a record
//	NAME/data/<batch>-<hash>.cdxj           one line a response or revisit, sorted bytewise
//	NAME/data/<batch>-<hash>.links.zst      JSON lines
//	NAME/data/<batch>-<hash>.log.zst        JSON lines; alone if no URL had a response
//
// Only what a manifest names is read; other files in data/ are listed as orphans, which are no fault:
// an attempt that was killed, or lost the race for its manifest, may leave them.
package archivecheck
