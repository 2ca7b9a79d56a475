// Package views builds the views of a reading room from archives, and follows the archives: the catalogue of captures, the full-text index, and, where
// they are missing, the derivations that the index is filled from. Views belong to one server, in a folder of its own, where views of another archive
// are deleted; or they are in a database that servers and workers share. What is missing in them is built.
package views
