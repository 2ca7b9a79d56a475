package worker

import (
	"errors"
	"fmt"
	"os"

	"github.com/muninn-archive/muninn/internal/hostgroups"
)

// maxGroupsFile bounds the file of host groups, in bytes.
const maxGroupsFile = 4 << 20

// hostGroups reads the file of host groups; nil if there is none.
func (c *Config) hostGroups() (*hostgroups.Groups, error) {
	if c.Groups == "" {
		return nil, nil
	}
	info, err := os.Stat(c.Groups)
	if err == nil && info.Size() > maxGroupsFile {
		err = fmt.Errorf("has %d bytes, at most %d are read", info.Size(), maxGroupsFile)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(c.Groups)
	}
	if err != nil {
		return nil, fmt.Errorf("setting host-groups: %w", err)
	}
	groups, err := hostgroups.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("setting host-groups: file %s:\n%w", c.Groups, err)
	}
	if groups.NamesHosts() && c.Shards > 1 {
		return nil, errors.New("setting host-groups: groups that name hosts need politeness-shards 1, for an address of such a host may belong to another shard: name their networks instead")
	}
	return groups, nil
}
