package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/disk"
)

// Check checks everything that a worker with this configuration needs, and reports all faults at once: settings, disk, knowledge
// base, archive, and Temporal if an address is given. It may run while the worker runs.
func Check(ctx context.Context, conf Config, log *slog.Logger) error {
	conf.fillIn()
	errs := []error{conf.Validate(), checkData(conf), checkHelper(conf), openArchive(ctx, conf.archives()), checkViews(ctx, conf)}
	if conf.Temporal.Address != "" {
		errs = append(errs, checkTemporal(ctx, conf.Temporal, log))
	}
	return errors.Join(errs...)
}

// fillIn completes settings whose default follows from other settings.
func (c *Config) fillIn() {
	if c.Archive == "" {
		c.Archive = filepath.Join(c.Data, "archive")
	}
}

func (c *Config) archives() *activities.Archives {
	return &activities.Archives{Default: c.Archive, Allow: c.Archives, S3: c.S3}
}

// checkDisk reports whether the disk has room for a worker to start.
func checkDisk(room *disk.Watch) error {
	if err := room.Writes(); err != nil {
		return fmt.Errorf("%w: free some space, or set another disk-floor", err)
	}
	return nil
}

// checkData creates the data folder, and checks that files can be written there.
func checkData(conf Config) error {
	if err := os.MkdirAll(conf.Data, 0o755); err != nil {
		return fmt.Errorf("setting data: %w", err)
	}
	probe, err := os.CreateTemp(conf.Data, "probe-*")
	if err != nil {
		return fmt.Errorf("setting data: %w", err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()), checkDisk(disk.New(conf.Data, conf.DiskFloor)))
}

func openHelper(conf Config) (*aah.Helper, error) {
	helper, err := aah.Open(conf.Knowledge, conf.Helper)
	if err != nil {
		return nil, fmt.Errorf("setting kb: %w", err)
	}
	return helper, nil
}

func checkHelper(conf Config) error {
	_, err := openHelper(conf)
	return err
}

// checkViews reports whether the database of the views can be opened.
func checkViews(ctx context.Context, conf Config) error {
	d := conf.database()
	if d == nil {
		return nil
	}
	if err := errors.Join(d.Check(ctx), d.Close()); err != nil {
		return fmt.Errorf("setting views: %w", err)
	}
	return nil
}

// database is that of the views; nil: none.
func (c *Config) database() *activities.Database {
	if c.Views == "" {
		return nil
	}
	return &activities.Database{Where: c.Views}
}

// openArchive opens the worker's own archive.
func openArchive(ctx context.Context, archives *activities.Archives) error {
	_, err := archives.Open(ctx, "")
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Errorf("setting archive: %w: the S3 service uses HTTP without TLS: write s3-endpoint as http://%s", err, strings.TrimPrefix(archives.S3.Endpoint, "https://"))
	}
	return fmt.Errorf("setting archive: %w", err)
}

// checkTemporal reports whether the Temporal service answers, and has the namespace.
func checkTemporal(ctx context.Context, t Temporal, log *slog.Logger) error {
	c, err := Dial(ctx, t, log)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = missingAttributes(ctx, c, t.Namespace)
	return err
}
