// Package webworld is a synthetic web on loopback addresses: blogs, a forum, a wiki, traps. The same seed gives the same
// web. It has the ground truth of every page, and records how the crawler behaved. This package has what all worlds share
// (a Builder, servers and records) and the world of the demo. Worlds for tests, benches and the laboratory are packages
// below it, which are not part of the product: bench, economy, faults, manners, scattered.
//
// Every site has an IP of its own, counting up from Options.FirstIP (some share one on purpose), and all
// listen on one port, which is part of every URL. Host names do not exist in DNS: give World.Resolve to
// the crawler. Linux answers on all of 127.0.0.0/8; other systems need the addresses configured.
//
// # What is measured, and how exactly
//
// A request begins when its header has been read and ends just before the last byte of its response is
// passed to the kernel. Therefore two requests that a client sends one after the other never look
// concurrent, and a measured gap is never shorter than the pause that the client made: Stats reports no
// false violations. The server notices that a client has hung up when the next connection or request
// arrives on the same IP, and does not count the two as concurrent. The gap after a request that was cut is
// measured from its start, because it is not known when the client left.
//
// A response that fits into the kernel's buffers counts as complete, although the client may be killed before
// it reads it. Therefore a kill test must allow one more complete response for each request that a killed
// crawler had in flight.
package webworld
