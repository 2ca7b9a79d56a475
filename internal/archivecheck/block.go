package archivecheck

// checkBlock checks the block by the record's type, and the digests.
func (w *warcFile) checkBlock(rec Record, e *entry) {
	w.checkDigest(rec, e, "WARC-Block-Digest", rec.Block)
	switch {
	case e.typ == "response" && e.isHTTP():
		w.checkResponse(rec, e)
	case e.typ == "request" && e.isHTTP():
		m, err := parseRequest(rec.Block)
		if err != nil || !m.whole {
			w.fault(e.offset, "the block is not an HTTP request with a whole header: %q", clip(rec.Block))
			return
		}
		w.checkDigest(rec, e, "WARC-Payload-Digest", m.body)
	case e.typ == "revisit":
		w.checkRevisit(rec, e)
	case e.typ == "warcinfo" || e.typ == "metadata":
		w.checkWarcFields(rec, e)
		w.checkDigest(rec, e, "WARC-Payload-Digest", rec.Block)
	case e.typ == "resource" || e.typ == "response": // no HTTP: the block is the payload
		w.checkDigest(rec, e, "WARC-Payload-Digest", rec.Block)
	}
}

// checkDigest compares the digest in the named field, if there is one, with that of one of the data.
// It returns the index of the data that it fits, or -1.
func (w *warcFile) checkDigest(rec Record, e *entry, field string, data ...[]byte) int {
	v := rec.Headers.Get(field)
	if v == "" {
		return -1
	}
	want, err := parseDigest(v)
	if err != nil {
		w.fault(e.offset, "%s %v", field, err)
		return -1
	}
	for i, d := range data {
		if digestOf(want.alg(), d) == want {
			return i
		}
	}
	w.fault(e.offset, "%s of the %s is %s, but the bytes have another", field, e.typ, v)
	return -1
}

// checkResponse checks an HTTP response. The payload is what follows the header block; of a chunked
// message both the bytes of the wire and the decoded body pass, and the report distinguishes them.
func (w *warcFile) checkResponse(rec Record, e *entry) {
	m, err := parseResponse(rec.Block)
	if err != nil {
		w.fault(e.offset, "%v", err)
		return
	}
	e.status = m.status
	truncated := rec.Headers.Get("WARC-Truncated") != ""
	if !m.whole && !truncated {
		w.fault(e.offset, "the HTTP header has no end, and the record has no WARC-Truncated")
	}
	if e.digest == "" {
		w.fault(e.offset, "the response has no WARC-Payload-Digest")
		return
	}
	if !m.chunked() {
		w.checkDigest(rec, e, "WARC-Payload-Digest", m.body)
		return
	}
	payloads := [][]byte{m.body}
	if decoded, whole := dechunk(m.body); whole || truncated {
		payloads = append(payloads, decoded)
	}
	switch w.checkDigest(rec, e, "WARC-Payload-Digest", payloads...) {
	case 0:
		w.report.ChunkedRaw++
	case 1:
		w.report.ChunkedDecoded++
	}
}
