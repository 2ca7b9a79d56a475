package activities

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/score"
)

// Allow says which files of the worker's machine definitions may name. Anyone who may start workflows may write a
// definition, and need not be one who may read and write the worker's files.
type Allow struct {
	Seeds []string // files of seeds, or folders of them
	// IgnoreRobots lets crawls ignore robots.txt whose definitions say by what right they do.
	IgnoreRobots bool
	Thesauri     []string // SKOS files, and folders of thesauri
}

// checkFiles refuses a definition that names files beyond those allowed.
func (allow Allow) checkFiles(d crawl.Definition) error {
	for i, s := range d.Seeds {
		if s.File != "" && !isBelow(s.File, allow.Seeds) {
			return refused(fmt.Sprintf("seeds[%d].file", i), s.File, "seed-dir", allow.Seeds)
		}
	}
	if where := score.ThesaurusOf(d.Order); where != "" && !isBelow(where, allow.Thesauri) {
		return refused("order.thesaurus", where, "thesaurus-dir", allow.Thesauri)
	}
	return nil
}

// checkRobots refuses a definition that ignores robots.txt on a worker that does not.
func (allow Allow) checkRobots(d crawl.Definition) error {
	if d.Robots.Policy == crawl.RobotsIgnore && !allow.IgnoreRobots {
		return &crawl.InputError{Message: "robots.policy: this worker lets no crawl ignore robots.txt: its operator must set ignore-robots"}
	}
	return nil
}

// robotsPolicy is the policy of a crawl on this worker: a worker that has been started again without its setting obeys.
func (allow Allow) robotsPolicy(d crawl.Definition) string {
	if allow.checkRobots(d) != nil {
		return crawl.RobotsObey
	}
	return d.Robots.Policy
}

func refused(field, what, setting string, allowed []string) error {
	names := "none is allowed"
	if len(allowed) > 0 {
		names = "allowed are " + strings.Join(allowed, ", ")
	}
	return &crawl.InputError{Message: fmt.Sprintf("%s: %q is not below what the worker's setting %s names: %s", field, what, setting, names)}
}

// checkArchive refuses a location for an archive that is neither below the worker's own (or in its bucket) nor below one that the
// worker's configuration allows.
func checkArchive(where, own string, allowed []string) error {
	ok := false
	if bucket, isS3 := bucketOf(own); isS3 {
		ok = inBucket(where, "s3://"+bucket)
	} else {
		ok = isFolder(where) && isBelow(where, []string{own})
	}
	for _, place := range allowed {
		if isFolder(place) {
			ok = ok || isFolder(where) && isBelow(where, []string{place})
		} else {
			ok = ok || inBucket(where, place)
		}
	}
	if ok {
		return nil
	}
	return refused("archive.where", where, "archive-allow", append([]string{own}, allowed...))
}

func isFolder(where string) bool { return !strings.Contains(where, "://") }

func bucketOf(where string) (bucket string, isS3 bool) {
	rest, isS3 := strings.CutPrefix(where, "s3://")
	bucket, _, _ = strings.Cut(rest, "/")
	return bucket, isS3 && bucket != ""
}

// inBucket reports whether a location is place, or has it as a prefix of whole names.
func inBucket(where, place string) bool {
	where, place = strings.TrimRight(where, "/")+"/", strings.TrimRight(place, "/")+"/"
	_, isS3 := bucketOf(where)
	return isS3 && strings.HasPrefix(where, place) && !slices.Contains(strings.Split(where, "/"), "..")
}

// isBelow reports whether a path is one of the places, or below one, after symbolic links are resolved.
func isBelow(path string, places []string) bool {
	real, err := resolveLinks(path)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(places, func(place string) bool {
		realPlace, err := resolveLinks(place)
		if err != nil {
			return false
		}
		rel, err := filepath.Rel(realPlace, real)
		return err == nil && filepath.IsLocal(rel)
	})
}

// resolveLinks returns an absolute path without symbolic links. Parts that do not exist yet are kept as they are.
func resolveLinks(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	missing := ""
	for at := path; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, missing), nil
		}
		// a link that leads nowhere is there: what is made through it would not be where its name says
		if _, errLink := os.Lstat(at); errLink == nil || !os.IsNotExist(err) || at == filepath.Dir(at) {
			return "", err
		}
		missing = filepath.Join(filepath.Base(at), missing)
	}
}
