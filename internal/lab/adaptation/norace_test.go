//go:build !race

package adaptation

const raced = false
