// Package dns answers from the DNS records of an archive: which names stood behind an address, and which addresses a name had, and when.
package dns
