package crawl

import (
	"fmt"
	"slices"
	"strings"
)

// Robots says what the crawl makes of the wishes of sites: robots.txt, and what pages ask robots for. robots.txt is fetched and archived, and its Crawl-delay obeyed,
// whatever the policy. The zero Robots, which crawls of earlier versions have, obeys.
type Robots struct {
	// Policy is what robots.txt may forbid: "obey", "requisites" (what pages embed is fetched though it is disallowed, all else is obeyed) or "ignore".
	Policy string `json:"policy,omitempty"`
	// Reason says by what right robots.txt is ignored, such as a law on legal deposit. It is required with the policy "ignore", which the worker's setting ignore-robots
	// must allow, too, and goes with the definition into the archive.
	Reason string `json:"reason,omitempty"`
	// NoFollow says whether links are followed of pages that ask robots not to, in X-Robots-Tag or a robots meta element: "obey" (they are not) or "ignore".
	NoFollow string `json:"nofollow,omitempty"`
}

// The policies of Robots; NoFollow has the first and the last.
const (
	RobotsObey       = "obey"
	RobotsRequisites = "requisites"
	RobotsIgnore     = "ignore"
)

// RobotsPolicies are the policies of Robots.
var RobotsPolicies = []string{RobotsObey, RobotsRequisites, RobotsIgnore}

// Words is the policy for the field robots of warcinfo records.
func (r Robots) Words() string {
	switch r.Policy {
	case RobotsRequisites:
		return "rfc9309, but what pages embed is fetched though it is disallowed"
	case RobotsIgnore:
		return "ignore: " + r.Reason
	}
	return "rfc9309"
}

func (v *validator) robots(r Robots) {
	v.check(r.Policy == "" || slices.Contains(RobotsPolicies, r.Policy), "robots.policy", fmt.Sprintf("is %q, must be %s", r.Policy, strings.Join(RobotsPolicies, ", ")))
	v.check(r.Policy != RobotsIgnore || strings.TrimSpace(r.Reason) != "", "robots.reason", `is missing: with policy "ignore" say by what right robots.txt is ignored, such as a law on legal deposit`)
	v.check(!strings.ContainsAny(r.Reason, "\r\n"), "robots.reason", "must be one line")
	v.check(r.NoFollow == "" || r.NoFollow == RobotsObey || r.NoFollow == RobotsIgnore, "robots.nofollow", fmt.Sprintf("is %q, must be obey or ignore", r.NoFollow))
}
