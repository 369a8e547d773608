//go:build slow

package attack

import "testing"

// TestNobodyAttacks: with the same rights, but no attack, every table is served.
func TestNobodyAttacks(t *testing.T) {
	t.Parallel()
	attacks{
		{name: "nothing given"},
	}.play(t)
}
