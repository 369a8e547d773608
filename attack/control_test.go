//go:build slow

package attack

import "testing"

// With the same rights, and nobody who makes use of them, every table is served.
func TestNobodyAttacks(t *testing.T) {
	t.Parallel()
	attacks{
		{name: "nothing given"},
	}.play(t)
}
