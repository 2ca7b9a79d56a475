package robots

import "bytes"

// MaxSitemaps is how many sitemaps of one robots.txt are taken.
const MaxSitemaps = 500

// Sitemaps lists what the Sitemap lines of a robots.txt name, each once. They belong to no group, and may be relative (sitemaps.org; RFC 9309 §2.2.4).
func Sitemaps(body []byte) (list []string) {
	body = utf8Text(body)
	seen := map[string]bool{}
	for text := range bytes.Lines(bytes.ReplaceAll(body[:min(len(body), MaxBytes)], []byte("\r"), []byte("\n"))) {
		key, value := splitLine(text)
		if key != "sitemap" && key != "site-map" || value == "" || seen[value] {
			continue
		}
		if seen[value] = true; len(list) == MaxSitemaps {
			break
		}
		list = append(list, value)
	}
	return list
}
