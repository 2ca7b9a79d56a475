// Package kept works out for an export which captures a query or a selection keeps, by whom or by which rule, and why.
package kept
