// Package topic holds what a crawl knows of its topic in addition to the words of the definition. Learn makes a Model of the
// Samples of a reference crawl (paper §3). A crawl also counts how many pages have a term (DocumentFrequencies), and sums the
// scores of the pages of each host and folder (SiteHistory): together its Memory, which grows by an Observation for each archived
// page. Package score judges pages with all this.
package topic
