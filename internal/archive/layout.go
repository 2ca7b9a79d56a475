package archive

import (
	"fmt"
	"hash/crc32"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Layout makes the keys of what an archive keeps of a crawl. No key is made anywhere else, so that what one part writes
// another one finds:
//
//	PREFIX/CRAWL/segments/SEGMENT.json                manifests: only what they name is archived
//	PREFIX/CRAWL/data/SEGMENT-HASH.warc.gz            with .cdxj, .links.zst, .objects.zst, .log.zst
//	PREFIX/CRAWL/definitions/run-N.json               and run-N-CHECKSUM.json of a definition that was changed during the run
//	PREFIX/CRAWL/topic/run-N.json                     what the reference crawl taught
//	PREFIX/CRAWL/learned/run-N-TIME.cbor              what a frontier that is lost gets back
//	PREFIX/CRAWL/kb/run-N/HOST.xml                    rules that were learned for a site
//	PREFIX/CRAWL/reports/run-N-TIME.html
type Layout struct{ Prefix, Crawl string }

// The folders of a crawl.
const (
	folderSegments    = "segments"
	folderData        = "data"
	folderDefinitions = "definitions"
	folderTopic       = "topic"
	folderLearned     = "learned"
	folderRules       = "kb"
	folderReports     = "reports"
)

// folders are those that hold objects themselves; the rules have a folder for each run.
var folders = []string{folderSegments, folderData, folderDefinitions, folderTopic, folderLearned, folderReports}

// keyTime is the form of times in keys, in UTC: keys of one run are in the order of time.
const keyTime = "20060102150405.000"

func (l Layout) in(folder, name string) string {
	return path.Join(l.Prefix, l.Crawl, folder) + "/" + name
}

// Manifests is the prefix of the manifests' keys.
func (l Layout) Manifests() string { return l.in(folderSegments, "") }

// Manifest is the key of a segment's manifest.
func (l Layout) Manifest(segment string) string { return l.in(folderSegments, segment+manifestSuffix) }

const manifestSuffix = ".json"

// segmentOf is the segment whose manifest has a key.
func segmentOf(key string) (segment string, is bool) {
	return strings.CutSuffix(path.Base(key), manifestSuffix)
}

// Data is the prefix of the keys of the segments' objects.
func (l Layout) Data() string { return l.in(folderData, "") }

// object is the key of an object of a segment. hash has hashLength digits; suffix is one of those below.
func (l Layout) object(segment, hash, suffix string) string {
	return l.objects(segment) + hash + suffix
}

// objects is the prefix of the keys of a segment's objects; keys of other segments may have it, too.
func (l Layout) objects(segment string) string { return l.in(folderData, segment+"-") }

// hashLength is the length of the hash in the names of objects, in hexadecimal digits.
const hashLength = 16

// The suffixes of a segment's objects.
const (
	suffixWARC    = ".warc.gz"
	suffixCDXJ    = ".cdxj"
	suffixLinks   = ".links.zst"
	suffixObjects = ".objects.zst"
	suffixLog     = ".log.zst"
)

// segmentObject is the name of an object of a segment. A store may be another program's too: nothing is swept that is
// named otherwise.
var segmentObject = regexp.MustCompile(fmt.Sprintf(`^.+-[0-9a-f]{%d}(%s)$`, hashLength, strings.Join([]string{
	regexp.QuoteMeta(suffixWARC), regexp.QuoteMeta(suffixCDXJ), regexp.QuoteMeta(suffixLinks), regexp.QuoteMeta(suffixObjects), regexp.QuoteMeta(suffixLog),
}, "|")))

// Definitions is the prefix of the definitions' keys.
func (l Layout) Definitions() string { return l.in(folderDefinitions, "") }

// Definition is the key of the definition that a run was started with.
func (l Layout) Definition(run uint32) string {
	return l.in(folderDefinitions, fmt.Sprintf("run-%d.json", run))
}

// ChangedDefinition is the key of a definition that was put in force during a run.
func (l Layout) ChangedDefinition(run uint32, definition []byte) string {
	return l.in(folderDefinitions, fmt.Sprintf("run-%d-%08x.json", run, crc32.ChecksumIEEE(definition)))
}

// RunOf is the number of the run that a definition's key names; 0 if it is the key of none.
func (l Layout) RunOf(key string) (run uint32) {
	if n, _ := fmt.Sscanf(strings.TrimPrefix(key, l.Definitions()), "run-%d", &run); n != 1 {
		return 0
	}
	return run
}

// Topic is the key of the topic model that the reference crawl of a run gave.
func (l Layout) Topic(run uint32) string { return l.in(folderTopic, fmt.Sprintf("run-%d.json", run)) }

// Snapshots is the prefix of the snapshots' keys; the last key is the newest.
func (l Layout) Snapshots() string { return l.in(folderLearned, "") }

// Snapshot is the key of what a crawl had learned at a time: its document frequencies, its site history and the state of its order.
func (l Layout) Snapshot(run uint32, at time.Time) string {
	return l.in(folderLearned, fmt.Sprintf("run-%06d-%s.cbor", run, at.UTC().Format(keyTime)))
}

// Rules is the key of the rules that were learned for a site; file is a name without its suffix.
func (l Layout) Rules(run uint32, file string) string {
	return l.in(folderRules, fmt.Sprintf("run-%d/%s.xml", run, file))
}

// Report is the key of a report that was made at a time.
func (l Layout) Report(run uint32, at time.Time) string {
	return l.in(folderReports, fmt.Sprintf("run-%d-%s.html", run, at.UTC().Format(keyTime)))
}

// split takes a key apart: the layout it is of, the folder, the name. It is no key of a crawl if the crawl is empty.
func split(key string) (of Layout, folder, name string) {
	dir := path.Dir(key)
	if above := path.Dir(dir); path.Base(above) == folderRules && strings.HasPrefix(path.Base(dir), "run-") {
		dir = above
	}
	crawl := path.Dir(dir)
	if crawl == "." || !slices.Contains(folders, path.Base(dir)) && path.Base(dir) != folderRules {
		return Layout{}, "", ""
	}
	of = Layout{Prefix: path.Dir(crawl), Crawl: path.Base(crawl)}
	if of.Prefix == "." {
		of.Prefix = ""
	}
	return of, path.Base(dir), path.Base(key)
}
