package ring

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// partitions is the state of all partitions; its text form has some 10,000 characters.
type partitions [Partitions]partition

// MarshalText writes three bytes and two numbers of variable length a partition, in base64.
func (ps *partitions) MarshalText() ([]byte, error) {
	var raw []byte
	for _, p := range ps {
		raw = append(raw, byte(p.step), p.owner, p.loader)
		raw = binary.AppendUvarint(raw, p.tenure)
		raw = binary.AppendUvarint(raw, p.order)
	}
	return base64.StdEncoding.AppendEncode(nil, raw), nil
}

var errPartitions = errors.New("the text of the ring's partitions is damaged")

// UnmarshalText reads what MarshalText wrote.
func (ps *partitions) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("%w: %w", errPartitions, err)
	}
	number := func() uint64 {
		n, size := binary.Uvarint(raw)
		if size <= 0 {
			err = errPartitions
			return 0
		}
		raw = raw[size:]
		return n
	}
	for i := range ps {
		if len(raw) < 3 || int(raw[0]) >= len(stepNames) {
			return errPartitions
		}
		p := partition{step: Step(raw[0]), owner: raw[1], loader: raw[2]}
		raw = raw[3:]
		p.tenure = number()
		p.order = number()
		if err != nil {
			return err
		}
		ps[i] = p
	}
	if len(raw) > 0 {
		return errPartitions
	}
	return nil
}

// stateJSON is the JSON form of a State.
type stateJSON struct {
	Limits     Limits         `json:"limits"`
	Shards     int            `json:"shards,omitempty"`
	Epoch      uint64         `json:"epoch"`
	Floor      time.Time      `json:"floor,omitzero"`
	Ready      time.Time      `json:"ready,omitzero"`
	Members    []member       `json:"members,omitempty"`
	Table      Table          `json:"table"`
	Partitions *partitions    `json:"partitions"`
	Objects    map[int]string `json:"objects,omitempty"`
}

// MarshalJSON writes the state.
func (s *State) MarshalJSON() ([]byte, error) {
	return json.Marshal(stateJSON{s.limits, s.shards, s.epoch, s.floor, s.ready, s.members, s.table, &s.parts, s.objects})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *State) UnmarshalJSON(text []byte) error {
	in := stateJSON{Partitions: &partitions{}}
	if err := json.Unmarshal(text, &in); err != nil {
		return fmt.Errorf("state of the ring: %w", err)
	}
	*s = State{in.Limits, in.Shards, in.Epoch, in.Floor, in.Ready, in.Members, in.Table, *in.Partitions, in.Objects}
	if s.objects == nil {
		s.objects = map[int]string{}
	}
	return nil
}

// viewJSON is the JSON form of a View.
type viewJSON struct {
	Epoch      uint64         `json:"epoch"`
	Workers    []Worker       `json:"workers,omitempty"`
	Partitions *partitions    `json:"partitions"`
	Objects    map[int]string `json:"objects,omitempty"`
}

// MarshalJSON writes the view.
func (v *View) MarshalJSON() ([]byte, error) {
	return json.Marshal(viewJSON{v.Epoch, v.Workers, &v.parts, v.objects})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *View) UnmarshalJSON(text []byte) error {
	in := viewJSON{Partitions: &partitions{}}
	if err := json.Unmarshal(text, &in); err != nil {
		return fmt.Errorf("view of the ring: %w", err)
	}
	*v = View{in.Epoch, in.Workers, *in.Partitions, in.Objects}
	return nil
}
