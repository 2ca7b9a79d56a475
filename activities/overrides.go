package activities

import (
	"fmt"
	"maps"
	"slices"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// checkOverrides refuses overrides that would have no effect: of a PLD that is none, or of a host that is not written as URLs have it.
func checkOverrides(o crawl.Overrides) error {
	for _, name := range slices.Sorted(maps.Keys(o.PLDs)) {
		if err := urls.CheckPLD(name); err != nil {
			return &crawl.InputError{Message: fmt.Sprintf("overrides.plds[%s]: %v", name, err)}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Hosts)) {
		if err := urls.CheckHost(name); err != nil {
			return &crawl.InputError{Message: fmt.Sprintf("overrides.hosts[%s]: %v", name, err)}
		}
	}
	return nil
}
