// Package webworld is a synthetic web on loopback addresses: blogs, a forum, a wiki, traps, the same for the same
// seed, with the ground truth of every page and a record of how the crawler behaved. It holds what all worlds share, a
// Builder, servers and records, and the world of the demo. What tests, benches and the laboratory crawl besides are
// packages below it, which the product does not carry: bench, economy, faults, manners, scattered.
//
// Every site has an IP of its own, counting up from Options.FirstIP (some share one on purpose), and all
// listen on one port, which is part of every URL. Host names do not exist in DNS: give World.Resolve to
// the crawler. Linux answers on all of 127.0.0.0/8; other systems need the addresses configured.
//
// # What is measured, and how exactly
//
// A request begins when its header has been read and ends just before the last byte of its response is
// handed to the kernel. So two requests that a client sends one after the other never look
// concurrent, and a measured gap is never shorter than the pause the client made: what Stats reports as
// a violation is one. A connection or request whose client has hung up is noticed when the next one
// arrives on the same IP and does not count as concurrent with it; the gap after a request that was cut is
// taken from its begin, as the moment the client left is not known.
//
// A response that fits into the kernel's buffers counts as complete although the client may be killed before
// it reads it. So a kill test must allow one more complete response for each request that a killed crawler
// had under way.
package webworld
