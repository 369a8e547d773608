//go:build slow

package ask

// rows is how many a large table has.
const rows = 1_000_000
