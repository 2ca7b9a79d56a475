package archivecheck

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// infoOf is a record of an exported file that names the warcinfo record of the file that it was copied from.
type infoOf struct {
	file   string
	offset int64
	id     recordID
}

// CheckExport checks the WARC files of an export, NAME.warc.gz with its index NAME.cdxj, and what holds between them, as Check does of an archive. What they may
// do in which the files of an archive may not: a file has the warcinfo records of the files that its records were copied from, and records
// name these, which may be in any file of the export.
func CheckExport(dir fs.FS) (Report, error) {
	c := &checker{
		ctx: context.Background(), exported: true, report: Report{Pages: map[string]int{}, Robots: map[string]int{}},
		named: map[string]string{}, ids: map[recordID]place{}, origins: newOrigins(),
	}
	files, err := fs.Glob(dir, "*.warc.gz")
	if err != nil || len(files) == 0 {
		return c.report, fmt.Errorf("check export: there is no WARC file: %w", fs.ErrNotExist)
	}
	slices.Sort(files)
	for _, file := range files {
		if err := c.checkExported(dir, file); err != nil {
			return c.report, fmt.Errorf("check export: %w", err)
		}
	}
	for _, i := range c.infos {
		if c.ids[i.id].typ != "warcinfo" {
			c.fault(i.file, i.offset, "WARC-Warcinfo-ID %s is that of no warcinfo record of the export", i.id)
		}
	}
	c.checkRevisits()
	return c.report, nil
}

func (c *checker) checkExported(dir fs.FS, file string) error {
	f, err := dir.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	warc, err := c.readWARC(file, f)
	if err != nil {
		return err
	}
	index, err := dir.Open(strings.TrimSuffix(file, ".warc.gz") + ".cdxj")
	if err != nil {
		return err
	}
	defer index.Close()
	return c.readCDXJ(strings.TrimSuffix(file, ".warc.gz")+".cdxj", index, warc)
}
