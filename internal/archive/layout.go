package archive

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
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

// Frontiers makes the keys of what an archive keeps of the frontiers of workers, all crawls together. No crawl has a name that begins
// with '_':
//
//	_frontier/partitions/PPPP/epoch-N@WORKER.part         a partition that WORKER hands over
//	_frontier/checkpoints/TIME@WORKER.json                what a checkpoint of WORKER consists of
//	_frontier/checkpoints/PPPP/TIME@WORKER.part           a partition of it; crawls/ in place of PPPP/: the rest of its frontier
//	_frontier/crawls/CRAWL@WORKER/HASH.json               a crawl of all workers together that WORKER has begun
//	_frontier/learning/CRAWL/RUN/updates/STREAM/N.cbor    what the commits of a worker have taught its order; RUN is a hash of the run's owner
//	_frontier/learning/CRAWL/RUN/snapshots/N/STREAM.cbor  what a worker knew after N pages
//	_frontier/submitted/CRAWL/TIME@WORKER-HASH.json       URLs that were submitted, as WORKER takes them in
type Frontiers struct{}

const (
	folderPartitions  = "_frontier/partitions"
	folderCheckpoints = "_frontier/checkpoints"
	folderCrawls      = "_frontier/crawls"
	folderLearning    = "_frontier/learning"
	folderSubmitted   = "_frontier/submitted"
)

// HandedOver is the key of a partition that a worker hands over in an epoch of the ring.
func (Frontiers) HandedOver(partition int, epoch uint64, worker string) string {
	return fmt.Sprintf("%s/%04d/epoch-%012d%s.part", folderPartitions, partition, epoch, atWorker(worker))
}

// HandOvers is the prefix of the keys of all partitions that are handed over, or were.
func (Frontiers) HandOvers() string { return folderPartitions + "/" }

// handedOver is the form of HandedOver.
var handedOver = regexp.MustCompile(`^` + folderPartitions + `/(\d{4})/epoch-(\d{12,20})@[^/]+\.part$`)

// HandOver takes a key of HandOvers apart; false of any other key.
func (Frontiers) HandOver(key string) (partition int, epoch uint64, ok bool) {
	parts := handedOver.FindStringSubmatch(key)
	if parts == nil {
		return 0, 0, false
	}
	partition, errPartition := strconv.Atoi(parts[1])
	epoch, errEpoch := strconv.ParseUint(parts[2], 10, 64)
	return partition, epoch, errPartition == nil && errEpoch == nil
}

// Checkpoints is the prefix of all checkpoints' keys.
func (Frontiers) Checkpoints() string { return folderCheckpoints + "/" }

// Checkpoint is the key of what says which objects a checkpoint consists of.
func (Frontiers) Checkpoint(at time.Time, worker string) string {
	return folderCheckpoints + "/" + at.UTC().Format(keyTime) + atWorker(worker) + ".json"
}

// CheckpointTaken is when the checkpoint of such a key was taken; the zero time of other keys.
func (Frontiers) CheckpointTaken(key string) time.Time {
	at, _, _ := strings.Cut(strings.TrimPrefix(key, folderCheckpoints+"/"), "@")
	taken, _ := time.Parse(keyTime, at)
	return taken
}

// CheckpointPart is the key of an object of a checkpoint: of a partition, or of the rest if it is negative.
func (Frontiers) CheckpointPart(partition int, at time.Time, worker string) string {
	folder := "crawls"
	if partition >= 0 {
		folder = fmt.Sprintf("%04d", partition)
	}
	return folderCheckpoints + "/" + folder + "/" + at.UTC().Format(keyTime) + atWorker(worker) + ".part"
}

// IsManifest reports whether a key of Checkpoints says which objects a checkpoint consists of.
func (Frontiers) IsManifest(key string) bool {
	name := strings.TrimPrefix(key, folderCheckpoints+"/")
	return !strings.Contains(name, "/") && strings.HasSuffix(name, ".json")
}

// IsCheckpoint reports whether a key of Checkpoints is that of a checkpoint of a worker, and of an object of one.
func (Frontiers) IsCheckpoint(key, worker string) (checkpoint, part bool) {
	depth := strings.Count(strings.TrimPrefix(key, folderCheckpoints+"/"), "/")
	return depth == 0 && strings.HasSuffix(key, atWorker(worker)+".json"), depth == 1 && strings.HasSuffix(key, atWorker(worker)+".part")
}

// SpreadCrawls is the prefix of the keys of what workers say of crawls of all workers together that they have begun.
func (Frontiers) SpreadCrawls() string { return folderCrawls + "/" }

// SpreadCrawl is the key of what a worker says of a crawl. Another text has another key.
func (Frontiers) SpreadCrawl(crawl, worker string, text []byte) string {
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%s/%s%s/%x.json", folderCrawls, crawl, atWorker(worker), sum[:8])
}

// SpreadCrawlOf is the prefix of what a worker says of a crawl; without a worker, of what any does. No name has an @.
func (Frontiers) SpreadCrawlOf(crawl, worker string) string {
	if worker == "" {
		return folderCrawls + "/" + crawl + "@"
	}
	return folderCrawls + "/" + crawl + atWorker(worker) + "/"
}

// Submitted is the prefix of what was submitted to a crawl; without one, of what was to any.
func (Frontiers) Submitted(crawl string) string {
	if crawl == "" {
		return folderSubmitted + "/"
	}
	return folderSubmitted + "/" + crawl + "/"
}

// SubmittedList is the key of a list of URLs that a worker takes in. Another text has another key.
func (f Frontiers) SubmittedList(crawl string, at time.Time, worker string, text []byte) string {
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%s%s%s-%x.json", f.Submitted(crawl), at.UTC().Format(keyTime), atWorker(worker), sum[:8])
}

// SubmittedAt is when the worker has taken in what such a key has; the zero time of other keys.
func (Frontiers) SubmittedAt(key string) time.Time {
	at, _, _ := strings.Cut(path.Base(key), "@")
	taken, _ := time.Parse(keyTime, at)
	return taken
}

// Learning is the prefix of what the workers of a spread crawl learn from each other.
func (Frontiers) Learning(crawl string) string { return folderLearning + "/" + crawl + "/" }

// LearningOf is the prefix of what they do in a run, by its owner.
func (f Frontiers) LearningOf(crawl, owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return f.Learning(crawl) + hex.EncodeToString(sum[:8]) + "/"
}

// LearningUpdates is the key of an object of the updates of a worker.
func (f Frontiers) LearningUpdates(crawl, owner, stream string, number uint64) string {
	return fmt.Sprintf("%supdates/%s/%012d.cbor", f.LearningOf(crawl, owner), stream, number)
}

// LearningSnapshot is the key of what a worker knew after so many pages.
func (f Frontiers) LearningSnapshot(crawl, owner, stream string, pages int) string {
	return fmt.Sprintf("%ssnapshots/%012d/%s.cbor", f.LearningOf(crawl, owner), pages, stream)
}

// learningKey is the form of both, behind LearningOf.
var learningKey = regexp.MustCompile(`^(?:updates/([^/]+)/(\d{12,20})|snapshots/(\d{12,20})/([^/]+))\.cbor$`)

// IsLearning takes a key of LearningOf apart: the updates of a stream and their number, or a snapshot and its pages; false of any other key.
func (f Frontiers) IsLearning(crawl, owner, key string) (stream string, number uint64, snapshot, ok bool) {
	parts := learningKey.FindStringSubmatch(strings.TrimPrefix(key, f.LearningOf(crawl, owner)))
	if parts == nil {
		return "", 0, false, false
	}
	number, err := strconv.ParseUint(cmp.Or(parts[2], parts[3]), 10, 64)
	return cmp.Or(parts[1], parts[4]), number, parts[1] == "", err == nil
}
