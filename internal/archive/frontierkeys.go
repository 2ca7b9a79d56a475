package archive

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

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
