package export

import (
	"crypto/sha256"
	"encoding/hex"
)

// hashOf is the SHA-256 of data, in hexadecimal digits.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
