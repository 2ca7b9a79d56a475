// Package claims has the claims of a crawl, and decides what they become: pure code, without the disk and the frontier's lock. A decision
// is a Change, which the frontier writes in a transaction and applies once that is on disk.
//
// The life of a claim:
//
//		            Grant                    End
//		claimed ────────────▶ leased ─────────────────▶ ended
//		   │                  │    ▲ ▲                    │
//		   │            Yield │    │ └────── Grant ───────┤ its batch asks for a lease again
//		   │                  ▼    │ Grant                │
//		   │                reading┘                      │
//		   │                  │                           │
//		   └──────────────────┴───────────── Drop ────────┘ committed, given back, withdrawn
//
//	  - claimed: its URLs are no other claim's, and its lease is asked for. No batch has it.
//	  - leased: a batch has it, and may ask its address until Claim.Lease, and its host.
//	  - reading: the lease is given back while an answer is still read. It asks nothing more.
//	  - ended: it asks nothing more. Its URLs are its own until its batch is committed or given back.
//
// A leased claim may borrow other hosts and other addresses, for a robots.txt that lies there. What it has not returned when it ends is given
// back then, with the longest pause: when it was asked last is not known.
//
// A lease that ends leaves an EndedLease in the journal, until the politeness workflow has confirmed it (Set.Confirm).
package claims
