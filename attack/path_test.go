package attack

import (
	"strings"
	"testing"
)

// create is what a role has to whom somebody has given CREATE on the schemas.
const create = "GRANT CREATE, USAGE ON SCHEMA public, own, low TO $m; "

// Who may CREATE in a schema makes what our statements, our triggers, or expressions of ours might find there.
func TestFoundByPath(t *testing.T) {
	t.Parallel()
	operators, functions, enums, shadow := file(t, "operators"), file(t, "functions"), file(t, "enums"), file(t, "shadow")
	const first = "ALTER ROLE $p IN DATABASE $d SET search_path = shadow, pg_catalog; ALTER ROLE $o SET search_path = shadow, pg_catalog; ALTER ROLE $l SET search_path = shadow, pg_catalog"
	attacks{
		{name: "operators", right: create, before: operators},
		{name: "functions", right: create, before: functions},
		{name: "operators of the state", right: create, after: enums},
		{name: "the schema of another", right: "GRANT CREATE ON SCHEMA public TO $m", before: strings.ReplaceAll(operators, "$n", "public"), after: enums},
		{name: "a path before the catalog", right: shadow + first},
		{name: "a path before the catalog, of the database", right: shadow, owner: "$m", after: "ALTER DATABASE $d SET search_path = shadow, pg_catalog", stands: true},
		{name: "a path of the database, beforehand", right: shadow, owner: "$m", before: "ALTER DATABASE $d SET search_path = shadow, pg_catalog", stands: true},
	}.play(t)
}
