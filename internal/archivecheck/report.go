package archivecheck

// Report is what a check of an archive directory found. Counts are of records unless said otherwise.
type Report struct {
	Segments  int // manifests, without those of batches that were given back
	GivenBack int // manifests of such batches: they name nothing
	Records   int // all of the following, and any of other types

	Responses int
	Revisits  int
	Requests  int
	Metadata  int
	Warcinfo  int
	Resources int

	Logged int // lines of crawl logs

	Derivations int // manifests of what was derived of segments

	// Chunked responses by what their WARC-Payload-Digest covers: the body with its chunk framing, or
	// with the transfer coding removed as ISO 28500:2017 §6.3.2 wants it.
	ChunkedRaw     int
	ChunkedDecoded int

	// Pages and Robots count response and revisit records by target URI: Robots those whose path is
	// /robots.txt, Pages the others. dns: is in neither.
	Pages  map[string]int
	Robots map[string]int

	// Faults are sentences, each beginning with the file (relative to the directory, slashes) and the
	// byte offset in it.
	Faults []string

	// Orphans are the files in data/ and derived/ that no manifest names, and those in segments/ that are no
	// manifest; relative to the directory, sorted within a crawl.
	Orphans []string

	// Bytes is the size on disk of the objects that manifests name.
	Bytes int64
}
