package activities

import (
	"cmp"
	"context"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/muninn-archive/muninn/internal/disk"
)

// DiskHold keeps crawls from claiming while the disk of the data folder, or of the folder that a crawl is archived
// in, is short of room.
func DiskHold(a *Activities) Hold {
	return func(crawl string) string {
		where := ""
		if plan, err := a.Frontier.Crawl(crawl).Plan(); err == nil {
			where = plan.Definition.Archive.Where
		}
		return RoomFor(a, where)
	}
}

// RoomFor reports why nothing should be written to an archive and the data folder, because a disk is short of room; empty if it may. An
// archive without a name is the worker's.
func RoomFor(a *Activities, where string) string {
	var folders []string
	if where = cmp.Or(where, a.Archives.Default); !strings.Contains(where, "://") {
		folders = append(folders, where)
	}
	return a.Disk.Claims(folders...)
}

// roomLook is how often a step that met a full disk looks whether there is room again.
const roomLook = time.Second

// waitRoom returns the error of a step. If the disk was full it waits until there is room: an attempt that starts before would fail,
// too, and the number of attempts is limited.
func (a *Activities) waitRoom(ctx context.Context, err error) error {
	if !disk.Full(err) {
		return err
	}
	activity.GetLogger(ctx).Error("the step waits for room on the disk", "error", err)
	ctx, release := untilStopped(ctx)
	defer release()
	tick := time.NewTicker(roomLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
		if a.Disk.MayFetch() {
			return err
		}
	}
}
