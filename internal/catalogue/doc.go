// Package catalogue says which captures an archive holds and where they lie: a view that is built from segments, and built again if it
// is lost. Its contract, Catalogue, has two implementations (sqlite, postgres), which pass the suite in catalogtest. What both have
// in common is here: the form of keys, what a query means, and how pages of an index become its answer.
package catalogue
