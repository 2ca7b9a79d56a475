// Package adapt keeps extraction working when templates change (paper §4.1; Faheem and Senellart, Intelligent and
// adaptive crawling of Web applications for Web archiving, ICWE 2013). What was extracted from a page before is
// looked for in the page as it is now, and new expressions are learned by aligning the two; where nothing was
// extracted before, failing expressions are relaxed and repeated structures of the right shape are tried. What is
// learned is data, for one site, with its evidence; it is used once it was verified on further pages.
//
// An Adapter does that for the pages of a crawl (page.go): content.go is for pages that were crawled before, byrules.go for the
// others. The ways of making a rule are Learn, Parts, Relax and Shape, and a rule of another application. Each may take a number
// of steps, and no clock is read, so that a page gives the same rules on any machine.
package adapt
