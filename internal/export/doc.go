// Package export copies what is kept of an archive into files for other programs: WARC and WACZ, CSV of decisions, Parquet. A kept
// capture brings what it needs (its closure). The records are copied byte for byte, as the gzip members that they are. What is written
// depends on the archive and the order alone: an export that was cut off and is run again writes the same files.
package export
