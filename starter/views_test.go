package starter

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/pgtest"
	"github.com/muninn-archive/muninn/internal/room/views"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// TestViews: the views are built, are not built twice, and are the same after --rebuild, in a folder as in a database.
func TestViews(t *testing.T) {
	dir := selectable(t)
	for name, flags := range map[string]func(t *testing.T) []string{
		"folder":   func(t *testing.T) []string { return []string{"--data", t.TempDir()} },
		"database": func(t *testing.T) []string { return []string{"--views", pgtest.Start(t).Database(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			flags := flags(t)
			build := func(args ...string) (b builtViews) {
				t.Helper()
				code, printed, said := call(t, append(append([]string{"views", "--json", dir}, flags...), args...)...)
				if code != cli.ExitOK {
					t.Fatalf("%q: %d: %s", args, code, said)
				}
				parsed(t, printed, &b)
				return b
			}
			first := build()
			if first.Segments == 0 || first.Viewed != first.Segments || first.Rebuilt {
				t.Errorf("%+v", first)
			}
			before := capturesOf(t, dir, flags)
			former := filepath.Join(flags[1], "*", builtFolder, "former")
			if folders, _ := filepath.Glob(filepath.Dir(former)); len(folders) == 1 {
				if err := os.WriteFile(filepath.Join(folders[0], "former"), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if name == "folder" {
				t.Fatal(folders)
			}
			again := build("--rebuild")
			if left, _ := filepath.Glob(former); len(left) > 0 {
				t.Errorf("%s are left", left)
			}
			if after := capturesOf(t, dir, flags); !again.Rebuilt || again.Viewed != first.Viewed || len(before) < 24 || strings.Join(before, "\n") != strings.Join(after, "\n") {
				t.Errorf("%+v: %d captures became %d", again, len(before), len(after))
			}
			if _, printed, _ := call(t, append([]string{"views", dir}, flags...)...); !strings.Contains(printed, "are up to date: ") || strings.Contains(printed, "postgres://") {
				t.Error(printed)
			}
		})
	}
}

// capturesOf are the captures and the texts that the views have, a line each.
func capturesOf(t *testing.T, dir string, flags []string) (list []string) {
	t.Helper()
	o := roomOptions{archives: []string{dir}, s3: &archive.S3{}}
	switch flags[0] {
	case "--data":
		o.data = flags[1]
	default:
		o.views = flags[1]
	}
	stores, err := o.stores(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v, _, free, err := o.open(t.Context(), stores, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = free() }()
	for _, host := range []string{"birds.example", "soup.example"} {
		err := v.Catalogue.Query(t.Context(), catalogue.Query{URL: host, Match: catalogue.Host}, func(e catalogue.Entry) error {
			list = append(list, fmt.Sprintf("%+v", e))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	q, err := query.Parse("raven OR leek")
	if err != nil {
		t.Fatal(err)
	}
	a, err := v.Index.Search(t.Context(), q, search.Options{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range a.Hits {
		list = append(list, fmt.Sprintf("%+v", h))
	}
	return list
}

// TestViewsWrong: views that a server has open are not deleted, nor those of a database that others are connected to.
func TestViewsWrong(t *testing.T) {
	dir, data := selectable(t), t.TempDir()
	if code, _, said := call(t, "views"); code != cli.ExitUsage || !strings.Contains(said, "give an archive") {
		t.Errorf("%d: %s", code, said)
	}
	for _, more := range [][]string{nil, {"--rebuild"}} {
		if code, _, said := call(t, append([]string{"views", t.TempDir(), "--data", data}, more...)...); code != cli.ExitFailed || !strings.Contains(said, "there is no crawl in") {
			t.Errorf("%d: %s", code, said)
		}
	}
	t.Setenv("MUNINN_VIEWS", "postgres://127.0.0.1:1/none")
	if code, _, said := call(t, "views", dir, "--rebuild"); code != cli.ExitUsage || !strings.Contains(said, "MUNINN_VIEWS") {
		t.Errorf("%d: %s", code, said)
	}
	t.Setenv("MUNINN_VIEWS", "")
	o := roomOptions{archives: []string{dir}, data: data, s3: &archive.S3{}}
	stores, err := o.stores(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, _, free, err := o.open(t.Context(), stores, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = free() }()
	folder, err := o.folder(stores)
	if err != nil {
		t.Fatal(err)
	}
	code, _, said := call(t, "views", dir, "--data", data, "--rebuild")
	if _, err := os.Stat(filepath.Join(folder, builtFolder, "catalogue")); code != cli.ExitFailed || !strings.Contains(said, "are open in another muninn") || err != nil {
		t.Errorf("%d: %s; %v", code, said, err)
	}
	broken := t.TempDir()
	o.data = broken
	folder, err = o.folder(stores)
	if err == nil {
		err = os.MkdirAll(filepath.Join(folder, builtFolder), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, builtFolder, "index"), nil, 0o644) // where a folder is expected
	}
	if err != nil {
		t.Fatal(err)
	}
	if code, _, said := call(t, "views", dir, "--data", broken); code != cli.ExitFailed || !strings.Contains(said, "index") {
		t.Errorf("%d: %s", code, said)
	}
	if code, _, said := call(t, "views", ""); code != cli.ExitUsage || !strings.Contains(said, "is empty") {
		t.Errorf("%d: %s", code, said)
	}
	where := pgtest.Start(t).Database(t)
	if code, _, said := call(t, "views", dir, "--views", where); code != cli.ExitOK {
		t.Fatal(said)
	}
	if code, _, said := call(t, "views", t.TempDir(), "--views", where, "--rebuild"); code != cli.ExitFailed || !strings.Contains(said, "there is no crawl in") {
		t.Errorf("%d: %s", code, said)
	}
	if len(capturesOf(t, dir, []string{"--views", where})) < 24 {
		t.Error("a wrong archive has deleted views")
	}
	db, err := views.OpenDatabase(context.Background(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if code, _, said := call(t, "views", dir, "--views", where, "--rebuild"); code != cli.ExitFailed || !strings.Contains(said, "others have them open") {
		t.Errorf("%d: %s", code, said)
	}
}
