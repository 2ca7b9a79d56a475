// Package cdx is the CDX server of the reading room: the captures of a catalogue by the parameters of pywb's and OutbackCDX's servers.
package cdx
