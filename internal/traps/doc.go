// Package traps finds sites without end: calendars, session ids in URLs, paths that repeat themselves, orders of arguments, random pages,
// "not found" with status 200, endless subdomains. It is pure: it knows neither the frontier nor the network.
//
//   - A Print says what a page reads like: near-duplicates have prints that differ in few bits (SimHash, Charikar 2002).
//   - A Shape is a URL with all that machines count or invent taken out, in five patterns from narrow to broad.
//   - A Memory is what a crawl remembers of a pay-level domain: prints, and for each pattern how many of its last pages were useless.
//
// A page is useless if it reads like an earlier one, or has next to no text, while it leads to more URLs of the same kind. Suspicion lowers the
// priority of a pattern; proof closes it. A pattern whose pages lead to no new URLs is never closed: it ends by itself.
package traps
