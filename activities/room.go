package activities

import (
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
		var folders []string
		where := a.Archives.Default
		if plan, err := a.Frontier.Crawl(crawl).Plan(); err == nil && plan.Definition.Archive.Where != "" {
			where = plan.Definition.Archive.Where
		}
		if !strings.Contains(where, "://") {
			folders = append(folders, where)
		}
		return a.Disk.Claims(folders...)
	}
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
