package scripttest

import (
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Args divides the words of a command, the first of which is its name: settings are those of the form NAME=VALUE, plain the others.
// defaults are settings that a line may leave out; nil: none.
func Args(words []string, defaults map[string]string) (plain []string, settings map[string]string) {
	settings = map[string]string{}
	maps.Copy(settings, defaults)
	for _, word := range words[1:] {
		if name, value, set := strings.Cut(word, "="); set {
			settings[name] = value
		} else {
			plain = append(plain, word)
		}
	}
	return plain, settings
}

// Duration reads a duration of a script, such as 1m30s.
func Duration(t testing.TB, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Number reads a whole number of a script.
func Number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
