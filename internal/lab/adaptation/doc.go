// Package adaptation measures what becomes of extraction when templates change: saved pages are changed as a
// redesign changes them, the same way on all pages of a site, and the objects that are still extracted are
// compared with those of the pages as they were.
package adaptation
