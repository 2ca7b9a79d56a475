// Package bandit learns, site by site while it is crawled, which links of its pages lead to pages of worth:
// links are grouped by where they stand (their tag path), and each group is an arm of a multi-armed bandit
// whose reward is that of the pages its links led to (after Gauquier, Manolescu and Senellart's crawler for
// data acquisition; UCB1: Auer, Cesa-Bianchi and Fischer 2002).
package bandit
