package integration

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	RemovePrograms()
	if wrong.dir != "" {
		_ = os.RemoveAll(wrong.dir)
	}
	os.Exit(code)
}
