// Package adapt keeps extraction working when templates change (paper §4.1; Faheem and Senellart, Intelligent and
// adaptive crawling of Web applications for Web archiving, ICWE 2013). What was lifted from a page before is
// looked for in the page as it is now, and new expressions are learned by aligning the two; where nothing was
// lifted before, failing expressions are relaxed and repeated structures of the right shape are tried. What is
// learned is data, for one site, with its evidence; it is used once it was verified on further pages.
package adapt
