package extract

import (
	"fmt"
	"strings"
	"testing"
)

// rankedThread is a thread in which a text stands in a cell of its own before the day of each post.
func rankedThread(before string) string {
	var b strings.Builder
	b.WriteString(`<h1>Where ravens sleep</h1>`)
	for i := range 4 {
		fmt.Fprintf(&b, `<div class=post><a class=username href=/members/%d>corvina%c</a><div class=rank>%s</div><span class=date>%d May 2014</span><div class=content><p>%s</p></div></div>`,
			i, 'A'+rune(i%3), before, 5+i, prose(30+i))
	}
	return b.String()
}

// TestThreadOfRanks: the rank of a writer before the day of a post is no label of that day.
func TestThreadOfRanks(t *testing.T) {
	for _, rank := range []string{"Member", "Junior Member", "Registered User", "Mitglied", "Inscrit", "注册会员"} {
		var set Set
		if !pageOf(t, rankedThread(rank)).Thread(&set) || len(set.Objects) != 4 {
			t.Errorf("%s: %d posts", rank, len(set.Objects))
			continue
		}
		for i, o := range set.Objects {
			if day := o.Properties.Get("published"); !strings.HasPrefix(day, fmt.Sprintf("2014-05-%02d", 5+i)) {
				t.Errorf("%s: post %d is of %q", rank, i, day)
			}
		}
	}
}

// TestThreadOfJoining: days behind a label in a cell of its own that says that members have joined on them are not those of posts.
func TestThreadOfJoining(t *testing.T) {
	for _, label := range []string{"Joined", "Joined:", "Registered :", "Date joined:", "Member since", "Mitglied seit:", "Beigetreten", "注册", "注册时间", "Edited"} {
		var set Set
		if pageOf(t, rankedThread(label)).Thread(&set) {
			t.Errorf("%s: %+v", label, set.Objects[0])
		}
	}
}
