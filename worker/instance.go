package worker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/disk"
)

// A data folder has an identity, and a worker polls under it. The queue muninn/NAME must be polled for one data folder only:
// activities on the queue expect their claims and working files in the folder.

var instancePattern = regexp.MustCompile(`^[0-9a-f]{16}$`)

// instanceOf reads the identity of a data folder. It gives the folder one if it has none.
func instanceOf(data string) (string, error) {
	path := filepath.Join(data, activities.InstanceFile)
	raw, err := os.ReadFile(path)
	if id := strings.TrimSpace(string(raw)); err == nil && instancePattern.MatchString(id) {
		return id, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("setting data: %w", err)
	}
	id := make([]byte, 8)
	_, _ = rand.Read(id) // never fails
	text := hex.EncodeToString(id)
	if err := os.MkdirAll(data, 0o755); err != nil {
		return "", fmt.Errorf("setting data: %w", err)
	}
	err = disk.WriteFile(path, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, text)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("setting data: %w", err)
	}
	return text, nil
}

// identity is the identity under which a worker polls Temporal: its name, the identity of its data folder, its start, machine and
// process. findRival reads it.
func identity(name, instance string, started time.Time) string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s/%s/%d@%s/%d", name, instance, started.UnixMilli(), host, os.Getpid())
}

// A worker looks for another one of its name every rivalSoon for rivalFirst, which is longer than a poll lasts: by then both have
// polled. Later it looks every rivalLate.
const (
	rivalSoon  = 5 * time.Second
	rivalFirst = 90 * time.Second
	rivalLate  = time.Minute

	rivalTimeout = 3 * time.Second // of a request to Temporal, which a stopping worker waits for
)

// poller is a process that polls a task queue.
type poller struct {
	identity string
	last     time.Time // by the clock of the Temporal service
}

// ownPoll is when the worker of an identity has polled, as the Temporal service says; zero if it has not.
func ownPoll(pollers []poller, self string) time.Time {
	for _, p := range pollers {
		if p.identity == self {
			return p.last
		}
	}
	return time.Time{}
}

// findRival finds the poller of a worker of the same name on another data folder that started before this worker, and has polled
// since this one has, by the same clock: of two workers, the younger ends. One that is gone has not; by this worker's own clock, which may
// be slow, it might seem to. It is empty if there is none.
func findRival(pollers []poller, name, instance string, started, polled time.Time) string {
	for _, p := range pollers {
		of, _, ours := strings.Cut(p.identity, "@")
		part := strings.Split(of, "/")
		if !ours || len(part) != 3 || part[0] != name || part[1] == instance || !p.last.After(polled) {
			continue
		}
		if since, err := strconv.ParseInt(part[2], 10, 64); err == nil && (since < started.UnixMilli() || since == started.UnixMilli() && part[1] < instance) {
			return p.identity
		}
	}
	return ""
}

// watchForRival ends the worker if another one of its name runs that has another data folder. A former worker that was killed, or
// whose folder was lost, does not end it.
func (w *Worker) watchForRival() {
	var polled time.Time // of this worker, when it was first looked
	for {
		pause := rivalLate
		if time.Since(w.started) < rivalFirst {
			pause = rivalSoon
		}
		select {
		case <-time.After(pause):
		case <-w.stopped:
			return
		}
		pollers, err := w.pollers()
		if err != nil {
			w.log.Warn("cannot list the pollers of this worker's task queue", "error", err)
		}
		if polled.IsZero() {
			polled = ownPoll(pollers, identity(w.conf.Name, w.instance, w.started))
			continue
		}
		other := findRival(pollers, w.conf.Name, w.instance, w.started, polled)
		if other == "" {
			continue
		}
		err = fmt.Errorf("another worker has the name %q and another data folder: %s; give each its own name (setting name)", w.conf.Name, other)
		select {
		case w.fatal <- err:
		default:
		}
		return
	}
}

// pollers lists who polls this worker's own task queue.
func (w *Worker) pollers() (list []poller, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), rivalTimeout)
	defer cancel()
	out, err := w.client.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: w.conf.Temporal.Namespace, TaskQueueType: enums.TASK_QUEUE_TYPE_ACTIVITY,
		TaskQueue: &taskqueue.TaskQueue{Name: names.WorkerQueue(w.conf.Temporal.Queue, w.conf.Name)},
	})
	if err != nil {
		return nil, err
	}
	for _, p := range out.GetPollers() {
		list = append(list, poller{p.GetIdentity(), p.GetLastAccessTime().AsTime()})
	}
	return list, nil
}
