package share

import "time"

// DefaultLearnEvery is after how many pages of its own a worker of a spread crawl exchanges learning updates with the others, once the crawl is old.
const DefaultLearnEvery = 100

// A young order learns much from each page, and an old one little: so the exchanges grow apart with the pages of the worker.
const (
	learnEveryLeast = 5
	learnEveryPart  = 8 // of the pages so far

	learnWaitYoung = 2 * time.Second
	learnWait      = 10 * time.Second
	learnYoung     = 1000 // pages

	// LearnAll is how many pages of its own a worker sends to all others before it sends a sample alone, see LearnEach.
	LearnAll = 1000

	// learnQuiet bounds the wait while nothing changes: a crawl that is paused, or waits for its hosts, need not list the archive.
	learnQuiet = time.Minute
)

// LearnEvery is after how many pages more a worker that has fetched so many exchanges learning updates with the others: most at most.
func LearnEvery(pages int64, most int) int64 {
	return min(max(pages/learnEveryPart, learnEveryLeast), int64(most))
}

// LearnEach says that a worker that has fetched so many pages, one of n, sends one in so many of them to the others. The first thousand all go: a young order learns much from each page.
// Of those behind them one in n−1 goes, so that a worker learns from as many pages of all others together as of its own: what learning costs a page does not grow with the
// number of workers.
func LearnEach(pages int64, n int) int {
	if pages < LearnAll {
		return 1
	}
	return max(n-1, 1)
}

// LearnWait is the longest time between two exchanges of a worker that has fetched so many pages.
func LearnWait(pages int64) time.Duration {
	if pages < learnYoung {
		return learnWaitYoung
	}
	return learnWait
}

// LearnWaitQuiet is the longest time between two exchanges of a worker that has fetched so many pages, and none since the last of so many exchanges in
// a row that have neither sent nor taken anything: it doubles with each, up to a minute.
func LearnWaitQuiet(pages int64, idle int) time.Duration {
	wait := LearnWait(pages)
	for range idle {
		if wait *= 2; wait >= learnQuiet {
			return learnQuiet
		}
	}
	return wait
}
