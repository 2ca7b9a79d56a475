package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestWriteFile: a file is replaced whole, or stays as it was, and no temporary file is left; one that a killed process has left is
// in nobody's way.
func TestWriteFile(t *testing.T) {
	write := func(text string, fault error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, fault)
		}
	}
	for _, test := range []struct {
		name, before, left, want string
		fault                    error
	}{
		{name: "a new file", want: "new"},
		{name: "it replaces one", before: "old", want: "new"},
		{name: "it cannot be written", before: "old", want: "old", fault: errors.New("no room")},
		{name: "it is new and cannot be written", fault: errors.New("no room")},
		{name: "a killed process has left one that is longer", before: "old", left: "half of something long", want: "new"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			for name, text := range map[string]string{path: test.before, path + ".new": test.left} {
				if text == "" {
					continue
				}
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := WriteFile(path, write("new", test.fault)); !errors.Is(err, test.fault) {
				t.Errorf("%v, want %v", err, test.fault)
			}
			if got, err := os.ReadFile(path); string(got) != test.want || (err != nil) != (test.want == "") {
				t.Errorf("it holds %q, %v; want %q", got, err, test.want)
			}
			if _, err := os.Stat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a temporary file is left: %v", err)
			}
		})
	}
	if err := WriteFile(filepath.Join(t.TempDir(), "missing", "file"), write("new", nil)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("into no folder: %v", err)
	}
}

// TestPlace: the caller says how the file comes under its name, and its error leaves no temporary file.
func TestPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, want := range []error{nil, os.ErrExist} {
		f, err := os.CreateTemp(filepath.Dir(path), "temp-*")
		if err != nil {
			t.Fatal(err)
		}
		err = Place(f, path, func(from, to string) error { return errors.Join(os.Link(from, to), os.Remove(from)) }, func(io.Writer) error { return nil })
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		if _, err := os.Stat(f.Name()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a temporary file is left: %v", err)
		}
	}
}
