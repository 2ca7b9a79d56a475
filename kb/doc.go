// Package kb is the knowledge base of the application-aware helper (paper §4.1): XML files for
// people who do not program, and the loader that checks them. The files that ship with
// Muninn are embedded; README.md reports how to write one, kb.xsd is the schema.
package kb
