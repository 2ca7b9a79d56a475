package recognition

import (
	"strings"

	wappalyzer "github.com/projectdiscovery/wappalyzergo"
)

// Wappalyzer makes a recogniser of the fingerprints of Wappalyzer.
func Wappalyzer() (Recogniser, error) {
	client, err := wappalyzer.New()
	if err != nil {
		return nil, err
	}
	return func(headers map[string][]string, body []byte) (found []string) {
		for name := range client.Fingerprint(headers, body) {
			name, _, _ = strings.Cut(name, ":")
			found = append(found, name)
		}
		return found
	}, nil
}

// theirNames are Wappalyzer's names of applications. Only applications that are among the labels count as wrong.
var theirNames = map[string]string{
	"WordPress": "WordPress", "Drupal": "Drupal", "phpBB": "phpBB", "Simple Machines Forum": "SMF", "Blogger": "Blogger", "vBulletin": "vBulletin",
	"XenForo": "XenForo", "Joomla": "Joomla", "Substack": "Substack", "MediaWiki": "MediaWiki", "Discourse": "Discourse", "IPB": "Invision",
	"Invision Power Board": "Invision", "Medium": "Medium", "Vanilla": "Vanilla", "MyBB": "MyBB", "Ghost": "Ghost", "FluxBB": "FluxBB", "Tumblr": "Tumblr",
	"Reddit": "Reddit", "PunBB": "FluxBB",
}

// theirs reports whether one of the names is the page's application: "right", "wrong", or "" if no application was named.
func theirs(found []string, l Labelled) string {
	verdict := ""
	for _, name := range found {
		if ours, known := theirNames[name]; known {
			if ours == l.Application() {
				return "right"
			}
			verdict = "wrong"
		}
	}
	return verdict
}
