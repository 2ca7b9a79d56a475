package bleve

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
)

// troublePause is how long bleve pauses after a merge, or a write of what is in memory, that has failed. It tries both again without end, and without a pause of its own.
const troublePause = time.Second

// trouble is what bleve has failed to do in the background of a part: it reports that to nobody but a callback, which is known by a name and gets the folder.
type trouble struct {
	store  string // the folder
	pause  time.Duration
	closed chan struct{}
	noted  chan struct{} // has a value after something has failed

	mu    sync.Mutex
	last  error
	count int // of what has failed
}

// troubles are those of the parts that are open, by folder; troublesName is the callback's name.
var troubles sync.Map

const troublesName = "muninn"

func init() { // bleve has callbacks registered before any index is opened
	scorch.RegistryAsyncErrorCallbacks[troublesName] = func(err error, store string) {
		if of, known := troubles.Load(store); known {
			of.(*trouble).note(err)
		}
	}
}

// watch notes the trouble of the part in a folder from now on. If the part is open already, so that it cannot be opened, that one keeps its own.
func watch(dir string) *trouble {
	t := &trouble{store: filepath.Join(dir, "store"), pause: troublePause, closed: make(chan struct{}), noted: make(chan struct{}, 1)}
	troubles.LoadOrStore(t.store, t)
	return t
}

// note is called by the goroutine of bleve that has failed, before it tries again.
func (t *trouble) note(err error) {
	t.mu.Lock()
	t.last = err
	t.count++
	pause := t.pause
	t.mu.Unlock()
	select {
	case t.noted <- struct{}{}:
	default:
	}
	select {
	case <-time.After(pause):
	case <-t.closed:
	}
}

// why is what has failed last; nil if nothing has.
func (t *trouble) why() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// times is how often something has failed.
func (t *trouble) times() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}

// close ends the pauses: a part that is closed waits for bleve's goroutines.
func (t *trouble) close() {
	close(t.closed)
	troubles.CompareAndDelete(t.store, t)
}
