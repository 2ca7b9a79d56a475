package urls

import (
	"regexp"
	"strings"
)

// session matches the session parameters of a query that common applications add for visitors without
// cookies.
var session = regexp.MustCompile(`(?i)(^|&)(?:(?:sid|s|jsessionid)=[0-9a-f]{32}|phpsessid=[0-9a-z,-]{22,48})(&|$)`)

// withoutSession takes session parameters out of a query: each visit would make another URL of the same
// page.
func withoutSession(query string) string {
	for len(query) >= 32 && session.MatchString(query) { // neighbours share an '&'
		query = strings.Trim(session.ReplaceAllString(query, "$2"), "&")
	}
	return query
}
