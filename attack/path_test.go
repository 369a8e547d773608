//go:build slow

package attack

import (
	"strings"
	"testing"
)

// create is what a role has to whom somebody has given CREATE on the schemas.
const create = "GRANT CREATE, USAGE ON SCHEMA public, own, low TO $m; "

// Who may CREATE in a schema makes what our statements, our triggers, or expressions of ours might
// find there; who owns the database or a role has everybody look there first.
func TestFoundByPath(t *testing.T) {
	t.Parallel()
	operators, functions, enums, shadow := file(t, "operators"), file(t, "functions"), file(t, "enums"), file(t, "shadow")
	home := func(role string) string { // a schema that the path "$user", public looks into first
		return "CREATE SCHEMA " + role + "; GRANT USAGE ON SCHEMA " + role + " TO PUBLIC; " + strings.ReplaceAll(operators+functions, "$n", role)
	}
	attacks{
		{name: "operators", right: create, before: operators, after: enums},
		{name: "functions", right: create, before: functions},
		{name: "a path of the roles", right: shadow + `ALTER ROLE $p IN DATABASE $d SET search_path = shadow, pg_catalog;
			ALTER ROLE $o SET search_path = shadow, pg_catalog; ALTER ROLE $l SET search_path = shadow, pg_catalog`},
		{name: "schemas named after roles", right: "GRANT CREATE ON DATABASE $d TO $m", before: home("$p") + home("$o")},
		{name: "extensions", right: create + "GRANT CREATE ON DATABASE $d TO $m", before: file(t, "extensions")},
		{name: "a path of the database", right: shadow, owner: "$m", before: "ALTER DATABASE $d SET search_path = shadow, pg_catalog", stands: true},
	}.play(t)
}
