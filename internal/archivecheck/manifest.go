package archivecheck

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

// manifest is what the checker reads of a segment's manifest; other fields are ignored.
type manifest struct {
	Version int     `json:"version"`
	Crawl   string  `json:"crawl"`
	Batch   string  `json:"batch"`
	Nonce   string  `json:"nonce"`
	Worker  string  `json:"worker"`
	Created string  `json:"created"`
	WARC    object  `json:"warc"`
	CDXJ    object  `json:"cdxj"`
	Links   object  `json:"links"`
	Objects *object `json:"objects"`
	Log     *object `json:"log"`
	Records *int    `json:"records"` // WARC records, warcinfo included
	// GivenBack reports that the batch left nothing: the manifest keeps its place.
	GivenBack bool `json:"given_back"`
}

// object is a file of the segment: its key, its size in bytes and its sum.
type object struct {
	Key    string `json:"key"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// checkSegment checks the manifest at key and all that it names.
func (c *checker) checkSegment(crawl, key string) error {
	data, err := c.read(key)
	if errors.Is(err, ErrUnreadable) {
		c.fault(key, 0, "the manifest is not a regular file")
		return nil
	}
	if err != nil {
		return err
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		c.report.Segments++
		c.fault(key, 0, "the manifest is not JSON of the expected shape: %v", err)
		return nil
	}
	c.checkManifest(crawl, key, m)
	if m.GivenBack {
		c.report.GivenBack++
		return nil
	}
	c.report.Segments++

	var warc *warcFile
	if err := c.readObject(key, m.WARC, func(r io.Reader) (err error) {
		warc, err = c.readWARC(m.WARC.Key, r)
		return err
	}); err != nil {
		return err
	}
	if warc != nil && m.Records != nil && *m.Records != warc.records {
		c.fault(key, 0, "the manifest says %d records, but %s has %d", *m.Records, m.WARC.Key, warc.records)
	}
	if err := c.readObject(key, m.CDXJ, func(r io.Reader) error { return c.readCDXJ(m.CDXJ.Key, r, warc) }); err != nil {
		return err
	}
	if err := c.readObject(key, m.Links, func(r io.Reader) error { return c.readLinks(m.Links.Key, r) }); err != nil {
		return err
	}
	if m.Objects != nil {
		if err := c.readObject(key, *m.Objects, func(r io.Reader) error { return c.readLines(m.Objects.Key, r) }); err != nil {
			return err
		}
	}
	if m.Log == nil {
		return nil
	}
	return c.readObject(key, *m.Log, func(r io.Reader) error { return c.readLog(m.Log.Key, r, warc) })
}

// maxManifest bounds what is read of a manifest, in bytes.
const maxManifest = 16 << 20

func (c *checker) read(key string) ([]byte, error) {
	f, err := c.source.Open(c.ctx, key)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxManifest))
}

// checkManifest checks the manifest's own fields and the form of the keys.
func (c *checker) checkManifest(crawl, key string, m manifest) {
	name := strings.TrimSuffix(strings.TrimPrefix(key, crawl+"/segments/"), ".json")
	batch := name // data is named by the segment: batch and nonce
	if m.Nonce != "" {
		batch = strings.TrimSuffix(name, "-"+m.Nonce)
	}
	if m.Version != 1 {
		c.fault(key, 0, "the manifest has version %d, not 1", m.Version)
	}
	if m.Crawl != path.Base(crawl) {
		c.fault(key, 0, "the manifest is of crawl %q, but is in %q", m.Crawl, crawl)
	}
	if m.Batch != batch || m.Nonce != "" && batch == name {
		c.fault(key, 0, "the manifest is of batch %q, but is named %q", m.Batch, name)
	}
	if m.Worker == "" {
		c.fault(key, 0, "the manifest names no worker")
	}
	if _, err := time.Parse(time.RFC3339, m.Created); err != nil {
		c.fault(key, 0, "created %q is not RFC 3339", m.Created)
	}
	if m.GivenBack {
		if m.WARC.Key+m.CDXJ.Key+m.Links.Key != "" || m.Objects != nil || m.Log != nil {
			c.fault(key, 0, "the batch was given back, but the manifest names objects")
		}
		return
	}
	type part struct{ what, key, suffix string }
	parts := []part{{"warc", m.WARC.Key, ".warc.gz"}, {"cdxj", m.CDXJ.Key, ".cdxj"}, {"links", m.Links.Key, ".links.zst"}}
	if m.Log != nil {
		if m.WARC.Key+m.CDXJ.Key+m.Links.Key == "" { // no URL of the batch had a response
			parts = nil
		}
		parts = append(parts, part{"log", m.Log.Key, ".log.zst"})
	}
	if m.Objects != nil {
		parts = append(parts, part{"objects", m.Objects.Key, ".objects.zst"})
	}
	for _, o := range parts {
		if !strings.HasPrefix(o.key, crawl+"/data/"+name+"-") || !strings.HasSuffix(o.key, o.suffix) {
			c.fault(key, 0, "the %s key %q is not of the form %s/data/%s-HASH%s", o.what, o.key, crawl, name, o.suffix)
		}
	}
}

// readObject lets read have the object's bytes and compares its size and sum with the manifest's. An
// object that is missing, or that another manifest names too, is a fault and is not read.
func (c *checker) readObject(key string, o object, read func(io.Reader) error) error {
	if o.Key == "" || !fs.ValidPath(o.Key) {
		return nil // checkManifest has reported it
	}
	if other, ok := c.named[o.Key]; ok {
		c.fault(key, 0, "%s is also named by %s", o.Key, other)
		return nil
	}
	c.named[o.Key] = key
	f, err := c.source.Open(c.ctx, o.Key)
	if errors.Is(err, fs.ErrNotExist) {
		c.fault(key, 0, "%s does not exist", o.Key)
		return nil
	}
	if errors.Is(err, ErrUnreadable) {
		c.fault(key, 0, "%s is not a regular file", o.Key)
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	sum := &summer{r: f, hash: sha256.New()}
	if err := read(sum); err != nil {
		return err
	}
	// A reader that met a fault may have stopped early: the sum is of the whole file.
	if _, err := io.Copy(io.Discard, sum); err != nil {
		return err
	}
	c.report.Bytes += sum.n
	if sum.n != o.Bytes {
		c.fault(key, 0, "the manifest says %d bytes, but %s has %d", o.Bytes, path.Base(o.Key), sum.n)
	}
	if got := hex.EncodeToString(sum.hash.Sum(nil)); got != o.SHA256 {
		c.fault(key, 0, "the manifest says sha256 %s, but %s has %s", o.SHA256, path.Base(o.Key), got)
	}
	return nil
}

// summer counts and sums what is read through it.
type summer struct {
	r    io.Reader
	hash hash.Hash
	n    int64
}

func (s *summer) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n += int64(n)
	s.hash.Write(p[:n])
	return n, err
}
