package text

import (
	"slices"
	"strings"
	"time"
)

// Answer is what a system extracts from a page.
type Answer struct {
	Body      string    `json:"-"`
	Title     string    `json:"title,omitempty"`
	Author    string    `json:"author,omitempty"`
	Published time.Time `json:"published,omitzero"`
}

// Verdict says of a value whether there is gold for it, whether the system gave one, and whether it is right. Where a page shows none,
// no value is right.
type Verdict struct {
	Judged bool `json:"judged"`
	Given  bool `json:"given"`
	Right  bool `json:"right"`
}

// judgeTitle compares titles word by word.
func judgeTitle(right []string, answer string) Verdict {
	return judge(right, answer, func(s string) string { return strings.Join(Tokens(s), " ") })
}

// judgeAuthor compares names, whatever their order: "Jane Smith and John Doe" is "Smith, Jane; Doe, John".
func judgeAuthor(right []string, answer string) Verdict { return judge(right, answer, nameOf) }

func judge(right []string, answer string, form func(string) string) Verdict {
	v := Verdict{Judged: right != nil, Given: form(answer) != ""}
	if len(right) == 0 {
		v.Right = v.Judged && !v.Given
		return v
	}
	v.Right = v.Given && slices.ContainsFunc(right, func(r string) bool { return form(r) == form(answer) })
	return v
}

// nameOf brings names into one form: their words in order of the alphabet, without the words that stand before or between names.
func nameOf(s string) string {
	words := Tokens(s)
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains([]string{"by", "von", "and", "und"}, w) })
	slices.Sort(words)
	return strings.Join(words, " ")
}

// judgeDate compares days: that of the answer as the page writes it, or in UTC.
func judgeDate(right *string, answer time.Time) Verdict {
	v := Verdict{Judged: right != nil, Given: !answer.IsZero()}
	if right == nil {
		return v
	}
	if *right == "" || !v.Given {
		v.Right = *right == "" && !v.Given
		return v
	}
	v.Right = answer.Format(time.DateOnly) == *right || answer.UTC().Format(time.DateOnly) == *right
	return v
}
