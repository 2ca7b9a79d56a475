package page

import (
	"strings"

	"github.com/abadojack/whatlanggo"
)

// languageBytes is how much text the language is recognised from; more costs more than it is of use.
const languageBytes = 500

// language takes the page's own word, else looks at the longest blocks.
func language(declared string, blocks []string) string {
	tag, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(declared)), "-")
	if len(tag) == 2 {
		return tag
	}
	var sample strings.Builder
	for floor := 120; sample.Len() < languageBytes && floor > 0; floor -= 100 {
		for _, block := range blocks {
			if len(block) >= floor && sample.Len() < languageBytes {
				sample.WriteString(cut(block, languageBytes-sample.Len()))
				sample.WriteByte(' ')
			}
		}
	}
	if sample.Len() < 40 {
		return ""
	}
	info := whatlanggo.Detect(sample.String())
	if !info.IsReliable() {
		return ""
	}
	return info.Lang.Iso6391()
}
