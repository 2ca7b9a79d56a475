// Package topic holds what a crawl knows of its topic beside the words of the definition. Learn makes a Model of the Samples
// of a reference crawl (paper §3). While it crawls, the crawl counts in how many pages a term stands (DocumentFrequencies),
// and what the pages of hosts and folders were worth (SiteHistory): together its Memory, which grows by an Observation for
// each archived page. How pages are judged by all this is in package topic.
package topic
