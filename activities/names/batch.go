package names

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// BatchName is the name of a batch: PLD-N@WORKER.EPOCH. PLD-N is the claim that it began with; claims are numbered by worker and crawl.
// Segments in the archive, folders of the spool and workflow IDs are named after batches, so no two workers may give one name, nor
// one worker in two epochs. Batches of earlier versions have the name of the claim alone: Worker is empty then.
type BatchName struct {
	Claim  string
	Worker string
	Epoch  uint64 // of the ring of workers in which the batch was started
}

// NoRing is the epoch of batches that a worker starts before it has seen a view of the ring. Epochs of rings begin with 1.
const NoRing uint64 = 0

// maxPLD bounds the PLD in the name of a batch, in bytes. File systems take names of 255 bytes, and the names of a batch's objects have
// the nonce of its life and a hash, too. A PLD may have 253; the number keeps such names different.
const maxPLD = 120

// MaxBatchName is the length of the longest name of a batch, in bytes: PLD, number, worker and epoch.
const MaxBatchName = maxPLD + 1 + 19 + 1 + crawl.MaxName + 1 + 20

func (b BatchName) String() string {
	claim := b.Claim
	if cut := strings.LastIndexByte(claim, '-'); cut > maxPLD {
		claim = strings.TrimLeft(claim[cut-maxPLD:], ".-") // the end of a host says more, and no file may be hidden
	}
	if b.Worker == "" {
		return claim
	}
	return fmt.Sprintf("%s@%s.%d", claim, b.Worker, b.Epoch)
}

// PLD is that of the claim, perhaps shortened.
func (b BatchName) PLD() string { return b.Claim[:max(strings.LastIndexByte(b.Claim, '-'), 0)] }

// batchName is the form of the name; neither PLD nor worker has an '@'.
var batchName = regexp.MustCompile(`^([^/\\@]+-[0-9]{1,19})(?:@([^/\\@]+)\.(0|[1-9][0-9]{0,19}))?$`)

// ParseBatch takes the name of a batch apart. The claim may be shortened.
func ParseBatch(name string) (b BatchName, err error) {
	parts := batchName.FindStringSubmatch(name)
	if parts == nil {
		return b, fmt.Errorf("batch %q: the name must be PLD-NUMBER@WORKER.EPOCH", name)
	}
	b.Claim, b.Worker = parts[1], parts[2]
	if parts[3] != "" {
		if b.Epoch, err = strconv.ParseUint(parts[3], 10, 64); err != nil {
			return b, fmt.Errorf("batch %q: epoch: %w", name, err)
		}
	}
	return b, nil
}

// BatchOf is the name of the batch of a crawl whose workflow has an ID; false if that is no batch of the crawl.
func BatchOf(crawl, id string) (batch string, is bool) {
	rest, its := strings.CutPrefix(id, CrawlID(crawl)+"/")
	cut := strings.LastIndexByte(rest, '/')
	if !its || cut < 0 {
		return "", false
	}
	return rest[:cut] + "-" + rest[cut+1:], true
}

// BatchID is the ID of a batch's workflow: crawl/CRAWL/PLD/N@WORKER.EPOCH.
func BatchID(name, batch string) string {
	claim, _, _ := strings.Cut(batch, "@")
	if cut := strings.LastIndexByte(claim, '-'); cut > 0 {
		return CrawlID(name) + "/" + batch[:cut] + "/" + batch[cut+1:]
	}
	return CrawlID(name) + "/" + batch
}
