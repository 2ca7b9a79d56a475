// Package adaptation measures how well extraction survives changes of templates. It changes saved pages as a redesign
// would, in the same way on all pages of a site, and compares the objects that are still extracted with those of the
// unchanged pages.
package adaptation
