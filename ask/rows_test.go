//go:build !slow

package ask

// rows is how many a large table has: more than any statement reads.
const rows = 200_000
