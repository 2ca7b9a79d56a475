package hostgroups

import (
	"strings"
	"testing"
	"time"
)

const example1 = `
groups:
  - name: farm
    hosts: [one.example, two.example]
    networks: [192.0.2.0/24, 2001:db8::/32]
    per_ip: 3
    min_delay: 2s
  - name: strong
    networks: [198.51.100.7, 203.0.113.0/24]
    each_address: true
    per_ip: 4
`

func TestOf(t *testing.T) {
	g, err := Parse([]byte(example1))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		pld, ip string
		want    Server
	}{
		{"other.example", "10.0.0.1", Server{PerIP: 1}},
		{"one.example", "10.0.0.1", Server{Group: "farm", PerIP: 3, MinDelay: 2 * time.Second}},
		{"other.example", "192.0.2.9", Server{Network: "farm", PerIP: 3, MinDelay: 2 * time.Second}},
		{"other.example", "2001:db8::1", Server{Network: "farm", PerIP: 3, MinDelay: 2 * time.Second}},
		{"other.example", "198.51.100.7", Server{PerIP: 4}},
		{"other.example", "::ffff:203.0.113.1", Server{PerIP: 4}},
		{"two.example", "203.0.113.1", Server{Group: "farm", PerIP: 3, MinDelay: 2 * time.Second}},
	}
	for _, test := range tests {
		if got := g.Of(test.pld, test.ip); got != test.want {
			t.Errorf("%s at %s: %+v, want %+v", test.pld, test.ip, got, test.want)
		}
	}
	if got := (*Groups)(nil).Of("one.example", "192.0.2.9"); got != (Server{PerIP: 1}) {
		t.Errorf("without rules: %+v", got)
	}
}

func TestHash(t *testing.T) {
	hashOf := func(text string) string {
		g, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return g.Hash()
	}
	same := `{"groups": [{"name": "strong", "networks": ["203.0.113.0/24", "198.51.100.7"], "per_ip": 4, "each_address": true},
		{"name": "farm", "min_delay": "2s", "per_ip": 3, "hosts": ["two.example", "one.example"], "networks": ["2001:db8::/32", "192.0.2.0/24"]}]}`
	if a, b := hashOf(example1), hashOf(same); a != b || a == "" {
		t.Errorf("%q and %q", a, b)
	}
	if a, b := hashOf(example1), hashOf(strings.Replace(example1, "per_ip: 3", "per_ip: 2", 1)); a == b {
		t.Errorf("another limit has the same hash %q", a)
	}
	if got := hashOf(""); got != "" {
		t.Errorf("no rules have the hash %q", got)
	}
}

func TestFaults(t *testing.T) {
	tests := map[string]string{
		"- a":                                    "the file is not a mapping",
		"groups: [{name: a, host: [x.example]}]": "groups[0].host",
		"groups: [{name: a}]":                    "groups[0] names nothing",
		"groups: [{hosts: [x.example]}]":         `groups[0].name is ""`,
		"groups: [{name: a, hosts: [x.example]}, {name: a, hosts: [y.example]}]":              "groups[1].name",
		"groups: [{name: a, hosts: [www.x.example.org]}]":                                     "such as example.org",
		"groups: [{name: a, hosts: [x.example]}, {name: b, hosts: [x.example]}]":              "is in the group a already",
		"groups: [{name: a, networks: [10.0.0.0/8]}, {name: b, networks: [10.1.0.0/16]}]":     "overlaps 10.0.0.0/8 of the group a",
		"groups: [{name: a, networks: [10.0.0.0/33]}]":                                        "groups[0].networks[0]",
		"groups: [{name: a, hosts: [x.example], per_ip: 17}]":                                 "groups[0].per_ip must be between 1 and 16",
		"groups: [{name: a, hosts: [x.example], min_delay: 2h}]":                              "groups[0].min_delay",
		"groups: [{name: a, hosts: [x.example], networks: [10.0.0.0/8], each_address: true}]": "groups[0].hosts cannot be with each_address",
	}
	for text, want := range tests {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngives %v\nwant  %s", text, err, want)
		}
	}
}
