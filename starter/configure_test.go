package starter

import (
	"strings"
	"testing"
)

// What a command line of `muninn configure` changes, as the update has it.
func TestChangesOf(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"--pld example.org --min-delay 10s --budget 500 --weight 2.5 --per-queue 3 --factor 0", `{"overrides":{"plds":{"example.org":{"budget":500,"factor":0,"min_delay":"10s","per_queue":3,"weight":2.5}}}}`},
		{"--pld a.example,b.example --host www.a.example --max-delay 1m", `{"overrides":{"hosts":{"www.a.example":{"max_delay":"1m"}},"plds":{"a.example":{"max_delay":"1m"},"b.example":{"max_delay":"1m"}}}}`},
		{"--pld example.org --reset", `{"overrides":{"plds":{"example.org":null}}}`},
		{"--min-delay 10s --budget 500 order.update=avg", `{"budget":{"pages":500},"order":{"update":"avg"},"politeness":{"min_delay":"10s"}}`},
		{"--pld example.org --budget many", `{"overrides":{"plds":{"example.org":{"budget":"many"}}}}`}, // is refused as a field of the definition
		{"--pld www.example.org --budget 5", `--pld: "www.example.org" is a host, its pay-level domain is example.org`},
		{"--host Example.org --min-delay 5s", `--host: "Example.org" is not a bare host name in its usual form, such as example.org`},
		{"--pld example.org", "give the settings of example.org"},
		{"--pld example.org order.update=avg", "give the settings as flags"},
		{"--pld example.org --reset --budget 5", "without other settings"},
		{"--reset", "without other settings"},
		{"--weight 2", "--weight is of a PLD"},
		{"--budget 5 file.yaml", "a file, or flags"},
		{"", "the fields to change"},
	} {
		cmd := configureCommand(&globals{})
		if err := cmd.ParseFlags(strings.Fields(c.line)); err != nil {
			t.Fatal(err)
		}
		f := cmd.Flags()
		plds, _ := f.GetStringSlice("pld")
		hosts, _ := f.GetStringSlice("host")
		reset, _ := f.GetBool("reset")
		got, err := changesOf(f, f.Args(), plds, hosts, reset)
		if err != nil {
			got = []byte(err.Error())
		}
		if !strings.Contains(string(got), c.want) {
			t.Errorf("%s: %s, want %s", c.line, got, c.want)
		}
	}
}
