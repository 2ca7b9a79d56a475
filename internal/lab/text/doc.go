// Package text measures what is extracted from saved pages (body, title, author, date of publication) against gold: what people who
// looked at the pages hold for right. Gold names the elements of a body, and has no text of it.
package text
