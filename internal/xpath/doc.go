// Package xpath evaluates XPath 1.0 on HTML pages, in bounded time. Expressions are parsed into a tree that
// can be asked (which words must a page hold for it to select anything?), changed (a rule that no longer
// fits its page is relaxed) and written out again; pages are flattened once, so that most rules are answered
// by a scan over arrays.
//
// Left out of XPath 1.0: variables, namespaces, processing instructions, id() and lang(). Added:
// has-class('a', 'b') (the element has all these classes), and ends-with, lower-case, upper-case and matches
// (RE2) of XPath 2.0. Read more kindly than XPath does: names of elements and attributes in any case, and the
// class idiom contains(concat(' ', @class, ' '), ' a '), which is has-class('a') whatever space stands between the
// classes. Of attributes that are written twice in a tag only the first counts where it is named.
package xpath
