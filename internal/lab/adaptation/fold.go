package adaptation

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// Fold is a part of the sites: what is chosen on some sites is judged on the others. The zero value has all sites.
type Fold struct {
	Part, Of int  // the Part-th of Of, from 1
	Others   bool // the other parts in its place
}

// ParseFold reads "2/3", the second of three parts, or "-2/3", the other two.
func ParseFold(s string) (f Fold, err error) {
	if s == "" {
		return f, nil
	}
	rest, others := strings.CutPrefix(s, "-")
	part, of, _ := strings.Cut(rest, "/")
	if f.Part, err = strconv.Atoi(part); err == nil {
		f.Of, err = strconv.Atoi(of)
	}
	if f.Others = others; err != nil || f.Part < 1 || f.Part > f.Of || f.Of < 2 {
		return Fold{}, fmt.Errorf("the fold %q is no part of sites: write 2/3, or -2/3 for the others", s)
	}
	return f, nil
}

// Has reports whether a host is in the part.
func (f Fold) Has(host string) bool {
	if f.Of == 0 {
		return true
	}
	h := fnv.New32a()
	h.Write([]byte(host))
	return (int(h.Sum32()%uint32(f.Of))+1 == f.Part) != f.Others
}
