package floors

import (
	"fmt"
	"go/constant"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// limit is a row of the handbook's tables of fixed limits: its constants, as package.name, and what the value column says of them.
type limit struct {
	subject   string
	value     string
	constants []string
}

var code = regexp.MustCompile("`([^`]+)`")

// fixedLimits reads the rows of the section "Fixed limits". A constant without its package is of that of the one before.
func fixedLimits(text string) (rows []limit) {
	_, section, _ := strings.Cut(text, "\n## Fixed limits\n")
	for _, line := range strings.Split(section, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.Contains(cells[3], "`") {
			continue
		}
		row, dir := limit{subject: strings.TrimSpace(cells[1]), value: strings.TrimSpace(cells[2])}, ""
		for _, m := range code.FindAllStringSubmatch(cells[3], -1) {
			name := m[1]
			if dot := strings.LastIndexByte(name, '.'); dot > 0 {
				dir, name = name[:dot], name[dot+1:]
			}
			row.constants = append(row.constants, dir+"."+name)
		}
		rows = append(rows, row)
	}
	return rows
}

// TestFixedLimits: each constant that the handbook's tables of fixed limits name is declared where they say, and has the value that
// they say, so that a row changes with its limit.
func TestFixedLimits(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "OPERATING.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := fixedLimits(string(text))
	if len(rows) < 40 {
		t.Errorf("only %d limits were found in docs/OPERATING.md", len(rows))
	}
	declared := newConstants(root)
	for _, row := range rows {
		for _, fault := range row.faults(declared.value) {
			t.Errorf("docs/OPERATING.md, fixed limits, %s: %s: change the row", row.subject, fault)
		}
	}
}

// faults compares a row with the values of its constants: the first number of the value column is that of the first constant.
func (l limit) faults(value func(name string) (constant.Value, bool, error)) (faults []string) {
	quantities := quantitiesOf(l.value)
	for i, name := range l.constants {
		v, duration, err := value(name)
		switch {
		case err != nil:
			faults = append(faults, err.Error())
			continue
		case i >= len(quantities):
			faults = append(faults, fmt.Sprintf("%q has no number for %s", l.value, name))
			continue
		}
		want, ok := quantities[i].as(duration)
		if got, exact := constant.Int64Val(constant.ToInt(v)); !ok || !exact || got != want {
			faults = append(faults, fmt.Sprintf("%s is %s, not %s", name, shown(v, duration), quantities[i]))
		}
	}
	return faults
}

func shown(v constant.Value, duration bool) string {
	if n, exact := constant.Int64Val(v); exact && duration {
		return time.Duration(n).String()
	}
	return v.ExactString()
}

// quantity is a number of the value column, with its unit if it has one that is known.
type quantity struct{ number, unit string }

func (q quantity) String() string { return strings.TrimSpace(q.number + " " + q.unit) }

var number = regexp.MustCompile(`(\d+(?:,\d{3})*(?:\.\d+)?)(?: ([A-Za-z]+))?`)

func quantitiesOf(text string) (list []quantity) {
	for _, m := range number.FindAllStringSubmatch(text, -1) {
		list = append(list, quantity{strings.ReplaceAll(m[1], ",", ""), m[2]})
	}
	return list
}

var (
	sizes = map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "Ki": 1 << 10, "Mi": 1 << 20, "kB": 1e3, "MB": 1e6, "GB": 1e9}
	times = map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "min": time.Minute, "h": time.Hour}
)

// as is the quantity as an integer: in nanoseconds if it is a duration, which needs a unit. The words after other numbers are no
// units, but for those of sizes.
func (q quantity) as(duration bool) (int64, bool) {
	n, err := strconv.ParseFloat(q.number, 64)
	unit, timed := times[q.unit]
	if err != nil || timed != duration {
		return 0, false
	}
	if timed {
		return int64(n * float64(unit)), true
	}
	if size, sized := sizes[q.unit]; sized {
		n *= size
	}
	return int64(n), n == float64(int64(n))
}

// TestLimitFaults: a value that differs in its number, its unit or its kind is found, and a constant without a number.
func TestLimitFaults(t *testing.T) {
	values := map[string]time.Duration{"p.wait": 90 * time.Second, "p.more": time.Hour}
	sizes := map[string]int64{"p.size": 24 << 20, "p.count": 2083}
	value := func(name string) (constant.Value, bool, error) {
		if d, timed := values[name]; timed {
			return constant.MakeInt64(int64(d)), true, nil
		}
		if n, known := sizes[name]; known {
			return constant.MakeInt64(n), false, nil
		}
		return nil, false, fmt.Errorf("no constant %s", name)
	}
	for _, test := range []struct{ row, fault string }{
		{"| a | 24 MiB | `p.size` | |", ""},
		{"| a | 2,083 bytes | `p.count` | |", ""},
		{"| a | 90 s | `p.wait` | |", ""},
		{"| a | 1.5 min to 1 h | `p.wait`, `more` | |", ""},
		{"| a | 24 MiB, in 2,083 URLs, at 7 places | `p.size`, `count` | |", ""},
		{"| a | 25 MiB | `p.size` | |", "p.size is 25165824, not 25 MiB"},
		{"| a | 24 KiB | `p.size` | |", "p.size is 25165824, not 24 KiB"},
		{"| a | 91 s | `p.wait` | |", "p.wait is 1m30s, not 91 s"},
		{"| a | 90 min | `p.wait` | |", "p.wait is 1m30s, not 90 min"},
		{"| a | 90 times | `p.wait` | |", "p.wait is 1m30s, not 90 times"},
		{"| a | 2,083 s | `p.count` | |", "p.count is 2083, not 2083 s"},
		{"| a | 90 s, 2 h | `p.wait`, `more` | |", "p.more is 1h0m0s, not 2 h"},
		{"| a | 90 s | `p.wait`, `more` | |", `"90 s" has no number for p.more`},
		{"| a | 1 | `p.gone` | |", "no constant p.gone"},
	} {
		rows := fixedLimits("\n## Fixed limits\n" + test.row + "\n")
		if len(rows) != 1 {
			t.Fatalf("%s: %d rows", test.row, len(rows))
		}
		if got := strings.Join(rows[0].faults(value), "; "); got != test.fault {
			t.Errorf("%s: %q, want %q", test.row, got, test.fault)
		}
	}
}
