//go:build !race

package aah

const raced = false
