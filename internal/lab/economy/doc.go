// Package economy measures what the helper saves: it crawls the economy world of webworld, sites with all the links
// that forums, blogs and wikis emit beside their content, with the helper and without, and counts the requests
// that it took to reach the posts, articles and comments.
//
// The crawl is a simulation in one process, without network, clock and Temporal. It goes through page.Parse and
// the helper as a crawl does; its frontier hands out the URL of the highest priority first, and of equal ones the one
// that was found first, so that a crawl without the helper is breadth first. It follows links, pages of lists and
// redirects within the site, and fetches nothing that pages embed. It keeps no cookies.
package economy
