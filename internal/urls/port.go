package urls

import (
	"fmt"
	"slices"
)

// PortError is the error for a port that belongs to another service than HTTP.
type PortError struct{ Port int }

func (e *PortError) Error() string {
	return fmt.Sprintf("port %d is that of another service than HTTP; browsers refuse it too", e.Port)
}

// CheckPort returns a PortError for a port on which browsers make no HTTP requests.
func CheckPort(port int) error {
	if _, bad := slices.BinarySearch(badPorts, port); bad {
		return &PortError{port}
	}
	return nil
}

// badPorts are those that browsers block (WHATWG Fetch §2.9, "bad port"), in order: a page must not make the crawler
// talk to mail servers and the like.
var badPorts = []int{
	0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111,
	113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548,
	554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665,
	6666, 6667, 6668, 6669, 6679, 6697, 10080,
}
