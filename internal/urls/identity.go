package urls

import (
	"regexp"
	"strings"
)

// session matches the session parameters of a query that common applications add for visitors without
// cookies: each visit would make another URL of the same page.
var session = regexp.MustCompile(`(?i)(^|&)(?:sid|phpsessid|jsessionid|aspsessionid[a-z]{8}|s)=[0-9a-z]{24,64}(&|$)`)

// Identity is the URL without its session parameters: two URLs of one identity are one page.
func (u URL) Identity() string {
	at := strings.IndexByte(u.text[u.path:], '?')
	if at < 0 {
		return u.text
	}
	query := u.text[u.path+at+1:]
	if !session.MatchString(query) {
		return u.text
	}
	rest := strings.Trim(session.ReplaceAllString(query, "$2"), "&")
	if rest == "" {
		return u.text[:u.path+at]
	}
	return u.text[:u.path+at+1] + rest
}
