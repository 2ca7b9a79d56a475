package archivecheck

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strings"
)

// digest is a digest in one form: the algorithm, a colon, the raw sum.
type digest string

// digestOf computes the digest of data; alg is "sha1" or "sha256".
func digestOf(alg string, data []byte) digest {
	if alg == "sha1" {
		sum := sha1.Sum(data)
		return digest("sha1:" + string(sum[:]))
	}
	sum := sha256.Sum256(data)
	return digest("sha256:" + string(sum[:]))
}

// alg returns the algorithm of the digest.
func (d digest) alg() string {
	alg, _, _ := strings.Cut(string(d), ":")
	return alg
}

// parseDigest reads a labelled digest (ISO 28500:2017 §5.8): sha1 in base32, as every web archive
// writes it, or sha256 in base32 (padded or not) or hexadecimal.
func parseDigest(value string) (digest, error) {
	alg, text, ok := strings.Cut(value, ":")
	if !ok {
		return "", fmt.Errorf("%q has no algorithm prefix", value)
	}
	alg = strings.ToLower(alg)
	size := map[string]int{"sha1": sha1.Size, "sha256": sha256.Size}[alg]
	if size == 0 {
		return "", fmt.Errorf("%q is neither sha1 nor sha256", value)
	}
	var sum []byte
	var err error
	if alg == "sha256" && len(text) == 2*size {
		sum, err = hex.DecodeString(text)
	} else {
		sum, err = base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.TrimRight(text, "="))
	}
	if err != nil || len(sum) != size {
		return "", fmt.Errorf("%q is no %s sum in base32", value, alg)
	}
	return digest(alg + ":" + string(sum)), nil
}
