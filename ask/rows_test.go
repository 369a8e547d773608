//go:build !slow

package ask

// rows is the size of a large table: more than any statement reads.
const rows = 200_000
