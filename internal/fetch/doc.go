// Package fetch makes HTTP/1.1 requests to one host at a time and keeps what went over the wire, byte for
// byte. A Lane fetches the targets of one lease, politely; a Client holds what lanes share: names
// resolved, robots.txt, limits and the address guard.
package fetch
