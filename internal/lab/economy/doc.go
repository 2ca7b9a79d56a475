// Package economy measures how many requests the helper saves. It crawls the economy world of webworld: sites with all
// the links that forums, blogs and wikis have beside their content. It counts the requests that a crawl needs to reach
// the posts, articles and comments, with the helper and without it.
//
// The crawl is a simulation in one process, without network, clock and Temporal. The pipeline of the live crawl parses the pages and
// asks the helper (pipeline.Engine.Understand). Its frontier returns the URL with the highest priority first, and among equals the one
// that was found first, so that a crawl without the helper is breadth-first. It follows links, pages of lists and
// redirects within the site, and fetches no embedded resources. It has no cookies.
package economy
