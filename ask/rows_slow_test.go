//go:build slow

package ask

// many is the size of a large table.
const many = 1_000_000
