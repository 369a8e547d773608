//go:build slow

package attack

import (
	"regexp"
	"strings"
	"sync"
	"testing"
)

// objects are the statements that make what pgtaskd makes, and what has its names.
type objects struct {
	functions, types, sequences, indexes, registers string
	calls                                           string // the types that only our functions take, and these functions
	printed                                         string // all that `pgtaskd schema` prints, for all tables
}

var (
	looking sync.Mutex
	ours    *objects
)

// made finds out what pgtaskd makes, where nobody attacks it.
func made(t *testing.T) *objects {
	t.Helper()
	looking.Lock()
	defer looking.Unlock()
	if ours != nil {
		return ours
	}
	s := newScene(t, "postgres")
	s.print(attack{})
	s.configure(nil)
	p := run(t, "--config", s.config)
	s.serve(attack{}, p, "at the first start")
	p.stop(t)
	ours = &objects{}
	for statements, query := range map[*string]string{
		&ours.functions: `SELECT pg_get_functiondef(p.oid) || ';' || coalesce(format('COMMENT ON FUNCTION %s IS %L;', p.oid::regprocedure, obj_description(p.oid, 'pg_proc')), '')
			FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang AND l.lanname = 'plpgsql' -- the bodies of the others need the table
			WHERE NOT p.proretset AND p.pronamespace = ANY ('{public,own,low}'::regnamespace[]) AND NOT EXISTS (SELECT FROM pg_type WHERE (oid = ANY (p.proargtypes) OR oid = p.prorettype) AND typtype = 'd')`,
		&ours.calls: `SELECT format('CREATE DOMAIN %s AS text;', t.oid::regtype) FROM pg_type AS t WHERE t.typtype = 'd' AND t.typnamespace = ANY ('{public,own,low}'::regnamespace[]) UNION ALL
			SELECT pg_get_functiondef(p.oid) || ';' FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang AND l.lanname = 'plpgsql'
			WHERE EXISTS (SELECT FROM pg_type WHERE oid = ANY (p.proargtypes) AND typtype = 'd' AND typnamespace = p.pronamespace)`,
		&ours.types: `SELECT format('CREATE TYPE %s AS ENUM (%s);', t.oid::regtype, (SELECT string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid))
			FROM pg_type AS t WHERE t.typtype = 'e' AND t.typnamespace = ANY ('{public,own,low}'::regnamespace[])`,
		&ours.sequences: `SELECT format('CREATE SEQUENCE %s;', oid::regclass) FROM pg_class WHERE relkind = 'S' AND relnamespace = ANY ('{public,own,low}'::regnamespace[])`,
		&ours.indexes: `SELECT format('CREATE TABLE IF NOT EXISTS %1$s.mine (id int); CREATE INDEX %2$I ON %1$s.mine (id);', relnamespace::regnamespace, relname)
			FROM pg_class WHERE relkind = 'i' AND relnamespace = ANY ('{public,own,low}'::regnamespace[])`,
		&ours.registers: `SELECT format('CREATE TABLE %1$s (pid int4, started timestamptz); CREATE TRIGGER evil BEFORE INSERT OR DELETE ON %1$s FOR EACH ROW EXECUTE FUNCTION kit.fire();', c.oid::regclass)
			FROM pg_class AS c WHERE relkind = 'r' AND relname LIKE 'pgtaskd\_session\_%' AND relnamespace = ANY ('{public,own,low}'::regnamespace[])`,
	} {
		*statements = s.get(s.safe, "SELECT string_agg(s, E'\n') FROM ("+query+") AS q (s)")
	}
	for _, target := range s.targets {
		ours.printed += ddl(t, target)
	}
	return ours
}

// What stands there before us, and belongs to somebody else, is refused by name or left alone; it
// never runs.
func TestInTheWay(t *testing.T) {
	t.Parallel()
	o, replace, enums := made(t), file(t, "replace"), file(t, "enums")
	state, _, _ := strings.Cut(o.types, "\n") // of one schema
	state = strings.Replace(state, "public.state", "$n.state", 1)
	later := regexp.MustCompile(`schema \d+`).ReplaceAllString(o.functions, "schema 99")
	const (
		few      = "public.task public.printed own.task low.task"
		database = create + "GRANT CREATE ON DATABASE $d TO $m; "
		trigger  = "; CREATE TRIGGER evil BEFORE INSERT OR UPDATE OR DELETE ON $t FOR EACH ROW EXECUTE FUNCTION kit.fire()"
		casts    = `; CREATE FUNCTION $n.cast(text) RETURNS $n.state LANGUAGE plpgsql AS $f$ BEGIN PERFORM kit.caught('cast'); RETURN NULL; END $f$;
			CREATE FUNCTION $n.cast($n.state) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN PERFORM kit.caught('cast'); RETURN NULL; END $f$;
			CREATE CAST (text AS $n.state) WITH FUNCTION $n.cast(text) AS IMPLICIT; CREATE CAST ($n.state AS text) WITH FUNCTION $n.cast($n.state) AS IMPLICIT`
	)
	attacks{
		{name: "functions", right: create, before: o.functions, after: replace, stands: true},
		{name: "functions of a later version", right: create, tables: few, before: later + replace, stands: true},
		{name: "type that our functions take", right: create, before: o.calls, after: replace, stands: true},
		{name: "type", right: create, before: state + casts, after: enums, stands: true},
		{name: "type that loses a label", right: create, tables: few, before: state, after: "ALTER TYPE $n.state RENAME VALUE 'DONE' TO 'OVER'", stands: true},
		{name: "table with a trigger", right: create, tables: few, before: "CREATE TABLE $t (id bigserial PRIMARY KEY)" + trigger, stands: true},
		{name: "table as printed", right: database, before: o.printed, after: replace + trigger, stands: true},
		{name: "partition", right: create, tables: few, stands: true, before: `CREATE TABLE IF NOT EXISTS kit.whole (id bigserial, part text DEFAULT '') PARTITION BY LIST (part);
			CREATE TABLE $t PARTITION OF kit.whole FOR VALUES IN ('$t')` + trigger},
		{name: "child", right: create, tables: few, stands: true, before: "CREATE TABLE IF NOT EXISTS kit.parent (id bigserial, data text CHECK (kit.same(data) = data)); CREATE TABLE $t () INHERITS (kit.parent)"},
		{name: "rule", right: create, tables: few, stands: true, before: "CREATE TABLE $t (id bigserial PRIMARY KEY); CREATE RULE evil AS ON UPDATE TO $t DO ALSO SELECT kit.caught('rule')"},
		{name: "view", right: create, tables: few, stands: true, named: `no table|(view|relation) "?(task|printed)`, before: "CREATE VIEW $t AS SELECT 1::int8 AS id, kit.same('') AS input"},
		{name: "name of a type", right: create, tables: few, stands: true, named: `type "?`, before: "CREATE DOMAIN $t AS int8 CHECK (kit.yes())"},
		{name: "sequences", right: create, before: o.sequences, after: "SELECT setval(c.oid, 1) FROM pg_class AS c WHERE relkind = 'S' AND relowner = current_user::regrole", stands: true},
		{name: "indexes", right: create, before: o.indexes, stands: true},
		{name: "register", right: create, before: o.registers, stands: true},
		{name: "table with expressions", right: create, before: expressions, stands: true},
		{
			name: "schema", owner: "postgres", right: "ALTER SCHEMA public OWNER TO $m; ALTER SCHEMA own OWNER TO $m; ALTER SCHEMA low OWNER TO $m", stands: true,
			after: "DROP FUNCTION IF EXISTS $n.pgtaskd_accept() CASCADE; " + strings.ReplaceAll(o.functions, "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION") + replace,
		},
		{name: "another target", as: "$o", mixed: true, own: true, after: replace + enums},
	}.play(t)
}

// expressions are a table in which the attacker's functions stand wherever one can.
const expressions = `CREATE TABLE $t (id bigserial PRIMARY KEY, active interval NOT NULL DEFAULT '1 hour'::kit.span, data kit.word DEFAULT 'x',
		input text NOT NULL CHECK (kit.holds(input)), "group" text NOT NULL DEFAULT kit.same('group'), mine text GENERATED ALWAYS AS (kit.same(data)) STORED);
	INSERT INTO $t (input) VALUES ('SELECT 1'); CREATE INDEX ON $t (kit.same(input)); CREATE STATISTICS IF NOT EXISTS $n.evil ON kit.same(input), id FROM $t;
	ALTER TABLE $t ENABLE ROW LEVEL SECURITY; ALTER TABLE $t FORCE ROW LEVEL SECURITY; CREATE POLICY evil ON $t USING (kit.holds(input))`
