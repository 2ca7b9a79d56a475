package archive

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Layout makes the keys of what an archive keeps of a crawl. No key is made anywhere else, so that what one part writes
// another one finds:
//
//	PREFIX/CRAWL/segments/SEGMENT.json                manifests: only what they name is archived
//	PREFIX/CRAWL/data/SEGMENT-HASH.warc.gz            with .cdxj, .links.zst, .objects.zst, .log.zst
//	PREFIX/CRAWL/definitions/run-N.json               and run-N-CHECKSUM.json of a definition that was changed during the run
//	PREFIX/CRAWL/topic/run-N@WORKER.json              what the reference crawl taught
//	PREFIX/CRAWL/topic/run-N-samples@WORKER.cbor      what a worker has of it, of a crawl that is spread
//	PREFIX/CRAWL/learned/run-N-TIME@WORKER.cbor       what a frontier that is lost gets back
//	PREFIX/CRAWL/kb/run-N/HOST@WORKER.xml             rules that were learned for a site
//	PREFIX/CRAWL/reports/run-N-TIME@WORKER.html
//	PREFIX/CRAWL/derived/STEP-VERSION/SEGMENT.json    manifests of what was derived of a segment (internal/derive)
//	PREFIX/CRAWL/derived/STEP-VERSION/SEGMENT-HASH.zst
//
// A run may have several workers. What each of them writes for itself has its name, so that none overwrites what another has
// written: that of the batch, in the names of segments, or @WORKER. Definitions have none: all workers of a run write the same
// one. Archives of earlier versions have no @WORKER; a reader of such an object takes both forms.
type Layout struct{ Prefix, Crawl string }

// LayoutOf makes the keys of the crawl of a definition.
func LayoutOf(d crawl.Definition) Layout { return Layout{Prefix: d.Archive.Prefix, Crawl: d.Name} }

// The folders of a crawl.
const (
	folderSegments    = "segments"
	folderData        = "data"
	folderDefinitions = "definitions"
	folderTopic       = "topic"
	folderSnapshots   = "learned"
	folderRules       = "kb"
	folderReports     = "reports"
	folderDerived     = "derived"
)

// folders are those that hold objects themselves; the rules have a folder for each run, derivations one for each version of a step.
var folders = []string{folderSegments, folderData, folderDefinitions, folderTopic, folderSnapshots, folderReports}

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

// SegmentName names the segment that a life of a batch leaves.
func SegmentName(batch, nonce string) string {
	if nonce == "" { // a life of a version that had no nonces
		return batch
	}
	return batch + "-" + nonce
}

// nonced is the name of a segment with the nonce of the batch's life at its end.
var nonced = regexp.MustCompile(`^(.+)-([0-9a-f]{16})$`)

// BatchOfSegment is the batch that SegmentName has made the name of a segment of; false if the name has no nonce.
func BatchOfSegment(segment string) (batch string, ok bool) {
	batch, nonce := LifeOfSegment(segment)
	return batch, nonce != ""
}

// LifeOfSegment is the batch and its nonce that SegmentName has made the name of a segment of; empty if the name has no nonce.
func LifeOfSegment(segment string) (batch, nonce string) {
	if parts := nonced.FindStringSubmatch(segment); parts != nil {
		return parts[1], parts[2]
	}
	return "", ""
}

const endsPrefix = "ends-"

// EndsBatch stands for the batch in the label of a segment that has none: of URLs that ended without one, the first of which has a number at
// its worker.
func EndsBatch(first int64, worker string) string {
	return fmt.Sprintf("%s%d%s", endsPrefix, first, atWorker(worker))
}

// IsEndsBatch reports whether EndsBatch has made a name, of this version or an earlier one. No mark of a frontier says that it has such a
// segment.
func IsEndsBatch(batch string) bool { return strings.HasPrefix(batch, endsPrefix) }

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

// hashed is the form of what the name of an object of a segment has behind the segment.
var hashed = fmt.Sprintf(`[0-9a-f]{%d}(%s)$`, hashLength, strings.Join([]string{
	regexp.QuoteMeta(suffixWARC), regexp.QuoteMeta(suffixCDXJ), regexp.QuoteMeta(suffixLinks), regexp.QuoteMeta(suffixObjects), regexp.QuoteMeta(suffixLog),
}, "|"))

// segmentObject is the name of an object of a segment. A store may be another program's too: nothing is swept that is
// named otherwise.
var segmentObject = regexp.MustCompile(`^.+-` + hashed)

// objectName is such a name without the segment.
var objectName = regexp.MustCompile(`^` + hashed)

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

// atWorker is what the name of an object ends with, before its suffix, that a worker has written for itself. Neither a host nor the
// name of a worker has an '@'.
func atWorker(worker string) string {
	if worker == "" { // as in archives of earlier versions
		return ""
	}
	return "@" + worker
}

// Topics is the prefix of the keys of what runs have learned of their topics.
func (l Layout) Topics() string { return l.in(folderTopic, "") }

// RuleFiles is the prefix of the keys of all learned rules.
func (l Layout) RuleFiles() string { return l.in(folderRules, "") }

// Reports is the prefix of the reports' keys.
func (l Layout) Reports() string { return l.in(folderReports, "") }

// Topic is the key of the topic model that the reference crawl of a run gave.
func (l Layout) Topic(run uint32, worker string) string {
	return l.in(folderTopic, fmt.Sprintf("run-%d%s.json", run, atWorker(worker)))
}

// Samples is the key of what a worker has of the reference crawl of a run.
func (l Layout) Samples(run uint32, worker string) string {
	return l.in(folderTopic, fmt.Sprintf("run-%d-samples%s.cbor", run, atWorker(worker)))
}

// Snapshots is the prefix of the snapshots' keys.
func (l Layout) Snapshots() string { return l.in(folderSnapshots, "") }

// Snapshot is the key of what a worker had learned of a crawl at a time: its document frequencies, its site history and the state of
// its order.
func (l Layout) Snapshot(run uint32, at time.Time, worker string) string {
	return l.in(folderSnapshots, fmt.Sprintf("run-%06d-%s%s.cbor", run, at.UTC().Format(keyTime), atWorker(worker)))
}

// snapshotName is that of a snapshot: run and time have as many digits as any other's, worker is missing in archives of earlier
// versions.
var snapshotName = regexp.MustCompile(`^run-(\d{6,}-\d{14}\.\d{3})(?:@(.+))?\.cbor$`)

// NewestSnapshot is the key of the snapshot that a worker continues with: of the last run that left any, the worker's own newest one,
// or else the newest of all. It is empty if none of the keys is a snapshot's.
func (l Layout) NewestSnapshot(keys []string, worker string) (newest string) {
	type place struct {
		run   int
		own   int // 1: the worker's own
		stamp string
	}
	var best place
	for _, key := range keys {
		name := snapshotName.FindStringSubmatch(strings.TrimPrefix(key, l.Snapshots()))
		if name == nil {
			continue
		}
		digits, _, _ := strings.Cut(name[1], "-")
		run, err := strconv.Atoi(digits)
		if err != nil {
			continue
		}
		at := place{run: run, stamp: name[1]}
		if name[2] == worker {
			at.own = 1
		}
		if newest == "" || cmp.Or(cmp.Compare(best.run, at.run), cmp.Compare(best.own, at.own), cmp.Compare(best.stamp, at.stamp)) < 0 {
			newest, best = key, at
		}
	}
	return newest
}

// Rules is the key of the rules that a worker has learned for a site; file is a name without its suffix.
func (l Layout) Rules(run uint32, file, worker string) string {
	return l.in(folderRules, fmt.Sprintf("run-%d/%s%s.xml", run, file, atWorker(worker)))
}

// Report is the key of a report that a worker made at a time.
func (l Layout) Report(run uint32, at time.Time, worker string) string {
	return l.in(folderReports, fmt.Sprintf("run-%d-%s%s.html", run, at.UTC().Format(keyTime), atWorker(worker)))
}

// derivedStep is the name of the folder of a version of a step.
var derivedStep = regexp.MustCompile(`^[a-z][a-z0-9_]*-[0-9]+$`)

// derivedFolder is the folder of a version of a step, whose name begins with a lower-case letter.
func derivedFolder(step string, version int) string {
	return fmt.Sprintf("%s/%s-%d", folderDerived, step, version)
}

// Derivations is the prefix of the manifests' keys, and of the data's, of a version of a step.
func (l Layout) Derivations(step string, version int) string {
	return l.in(derivedFolder(step, version), "")
}

// Derivation is the key of the manifest of what a version of a step has derived of a segment.
func (l Layout) Derivation(step string, version int, segment string) string {
	return l.in(derivedFolder(step, version), segment+manifestSuffix)
}

// DerivedData is the key of the data that such a manifest names. sha256 is the digest of the data, in hexadecimal digits.
func (l Layout) DerivedData(step string, version int, segment, sha256 string) string {
	return l.in(derivedFolder(step, version), segment+"-"+sha256[:hashLength]+suffixDerived)
}

const suffixDerived = ".zst"

// derivedData is the form of the name of DerivedData.
var derivedData = regexp.MustCompile(fmt.Sprintf(`^(.+)-[0-9a-f]{%d}%s$`, hashLength, regexp.QuoteMeta(suffixDerived)))

// SegmentOf is the segment whose manifest, or the manifest of whose derivation, has a key; false of the keys of data.
func SegmentOf(key string) (segment string, is bool) { return segmentOf(key) }

// split takes a key apart: the layout it is of, the folder, the name. It is no key of a crawl if the crawl is empty.
func split(key string) (of Layout, folder, name string) {
	dir := path.Dir(key)
	switch above := path.Dir(dir); {
	case path.Base(above) == folderRules && strings.HasPrefix(path.Base(dir), "run-"),
		path.Base(above) == folderDerived && derivedStep.MatchString(path.Base(dir)):
		dir = above
	}
	crawl := path.Dir(dir)
	if crawl == "." || !slices.Contains(folders, path.Base(dir)) && path.Base(dir) != folderRules && path.Base(dir) != folderDerived {
		return Layout{}, "", ""
	}
	of = Layout{Prefix: path.Dir(crawl), Crawl: path.Base(crawl)}
	if of.Prefix == "." {
		of.Prefix = ""
	}
	return of, path.Base(dir), path.Base(key)
}
