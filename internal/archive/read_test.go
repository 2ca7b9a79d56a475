package archive_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/coding"
	"github.com/muninn-archive/muninn/internal/fixture"
)

// TestAnswer: the body of a record is returned without chunks and codings; a body that cannot be decoded is an error.
func TestAnswer(t *testing.T) {
	packed := fixture.Gzip("a page")
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(packed), packed)
	tests := []struct {
		name, block string
		unread      bool
	}{
		{"plain", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\na page", false},
		{"until its end", "HTTP/1.0 200 OK\r\n\r\na page", false},
		{"packed", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + packed, false},
		{"packed, in chunks", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked, false},
		{"an unknown coding", "HTTP/1.1 200 OK\r\nContent-Encoding: dcb\r\n\r\n\x01\x02\x03", true},
		{"no HTTP", "a page", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answer, err := archive.Captured{Block: strings.NewReader(test.block)}.Answer()
			if test.unread {
				var unknown *coding.Error
				if err == nil || strings.Contains(test.block, "dcb") && !errors.As(err, &unknown) {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			if err := errors.Join(err, answer.Body.Close()); err != nil || string(body) != "a page" {
				t.Errorf("%q, %v", body, err)
			}
		})
	}
}
