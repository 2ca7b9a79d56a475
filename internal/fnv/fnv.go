// Package fnv is the 32-bit FNV-1a hash (Fowler, Noll & Vo), of texts, without an allocation. Frontiers and archives hold such
// hashes of terms, features and groups: they must never change. hash/fnv makes the same of bytes, but slower.
package fnv

const (
	offset = 2166136261
	prime  = 16777619
)

// Sum32 is the hash of a text.
func Sum32(s string) uint32 { return Add(offset, s) }

// Add is the hash of the text that a hash is of with s behind it.
func Add(hash uint32, s string) uint32 {
	for i := range len(s) {
		hash = (hash ^ uint32(s[i])) * prime
	}
	return hash
}

// AddByte is the hash of the text that a hash is of with a byte behind it.
func AddByte(hash uint32, c byte) uint32 { return (hash ^ uint32(c)) * prime }
