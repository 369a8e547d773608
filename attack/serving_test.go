//go:build slow

package attack

import (
	"strings"
	"testing"
)

// TestServingRoleAgainstAdministrator: the serving role owns its table and more. Whatever it makes
// of that must not reach the dsn's user, who creates objects where the serving role may not.
func TestServingRoleAgainstAdministrator(t *testing.T) {
	t.Parallel()
	const (
		tables = "own.task"
		mine   = "ALTER SCHEMA own OWNER TO $o; GRANT CREATE ON SCHEMA public TO $o; "
	)
	operators, functions := strings.ReplaceAll(file(t, "operators"), "$n", "public"), strings.ReplaceAll(file(t, "functions"), "$n", "public")
	enums, strip := file(t, "enums"), file(t, "strip")
	all := attacks{
		{name: "operators", after: operators + enums + "ALTER ROLE $o SET search_path = public, pg_catalog; " + strip},
		{name: "functions", after: functions + strip},
		{name: "defaults and domains", after: `ALTER TABLE $t ALTER COLUMN active SET DEFAULT '1 day'::kit.span; ALTER TABLE $t ALTER COLUMN "group" SET DEFAULT kit.same('group');
			ALTER TABLE $t ALTER COLUMN data TYPE kit.word; ALTER TABLE $t ALTER COLUMN input TYPE kit.word; ` + strip},
		{name: "expressions", after: `CREATE INDEX ON $t (kit.same(input)); ALTER TABLE $t ADD CHECK (kit.holds(input)), ADD COLUMN mine text GENERATED ALWAYS AS (kit.same(data)) STORED;
			CREATE STATISTICS IF NOT EXISTS $n.evil ON kit.same(input), id FROM $t; CREATE POLICY evil ON $t USING (kit.holds(input));
			ALTER TABLE $t ENABLE ROW LEVEL SECURITY; ALTER TABLE $t FORCE ROW LEVEL SECURITY;
			CREATE TRIGGER evil BEFORE INSERT OR UPDATE OR DELETE ON $t FOR EACH ROW EXECUTE FUNCTION kit.fire(); ` + strip},
	}
	for i := range all {
		all[i].right, all[i].as, all[i].own, all[i].tables, all[i].stands, all[i].named = mine, "$o", true, tables, true, "may not|denied|lacks|missing"
	}
	all.play(t)
}
