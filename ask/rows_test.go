//go:build !slow

package ask

// many is the size of a large table: more than any statement reads.
const many = 200_000
