//go:build slow

package attack

import "testing"

// With the same rights, and nobody who makes use of them, every table is served.
func TestNobodyAttacks(t *testing.T) {
	t.Parallel()
	attacks{
		{name: "nothing given"},
		{name: "CREATE", right: create + "GRANT CREATE ON DATABASE $d TO $m", grants: "GRANT TRIGGER, REFERENCES, INSERT, SELECT ON $t TO $m"},
		{name: "a schema of one's own", right: "ALTER SCHEMA own OWNER TO $o; GRANT CREATE ON SCHEMA public TO $o", tables: "own.task own.printed", own: true},
		{name: "a schema in common", mixed: true},
		{name: "a schema that nobody looks in", right: file(t, "shadow")},
	}.play(t)
}
