package activities

// lanesPerWorker is how many times the setting lanes all crawls of a worker together may use: as many as the worker has room for
// activities, with some left for the steps of a crawl that starts.
const lanesPerWorker = 2

// laneShare is how many lanes a crawl may use, whose weight is own of all: as many as the setting says, unless all crawls of the
// worker together would have more than it has room for. Then each has its part by weight, and one at least.
func laneShare(lanes, own, all int) int {
	return max(min(lanes, lanesPerWorker*lanes*own/max(all, 1)), 1)
}

// lanes is how many lanes a crawl may use now.
func (a *Activities) lanes(crawl string) int {
	own, all := a.Frontier.Crawl(crawl).Claims().Weights()
	return laneShare(a.Settings.Lanes, own, all)
}
