//go:build slow

package ask

// rows is the size of a large table.
const rows = 1_000_000
