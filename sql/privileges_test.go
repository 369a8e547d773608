package sql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// granted are the rights that a role and everybody have been given to objects in the schema public,
// beyond what the server gives everybody by itself.
func granted(t *testing.T, conn *pgx.Conn, role string) []string {
	t.Helper()
	return strings.Fields(value(t, conn, fmt.Sprintf(`SELECT coalesce(string_agg(DISTINCT concat(o.kind, ':', regexp_replace(o.name, '_[0-9a-f]{16}', '_HASH'), ':', x.privilege_type), ' '), '')
		FROM (
			SELECT CASE relkind WHEN 'S' THEN 'sequence' WHEN 'v' THEN 'view' ELSE 'table' END, relname, coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner)), relowner
			FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S', 'v')
			UNION ALL
			SELECT 'column', concat(relname, '.', attname), attacl, relowner FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid WHERE relnamespace = 'public'::regnamespace
			UNION ALL
			SELECT 'function', proname, coalesce(proacl, acldefault('f', proowner)), proowner FROM pg_proc WHERE pronamespace = 'public'::regnamespace
			UNION ALL
			SELECT 'type', typname, coalesce(typacl, acldefault('T', typowner)), typowner FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype IN ('e', 'd')
		) AS o (kind, name, acl, owner)
		CROSS JOIN LATERAL aclexplode(o.acl) AS x
		WHERE x.grantee IN (0, '%[1]s'::regrole) AND x.grantee <> o.owner`, role)))
}

// allowed tells which of these rights may be somebody's whom default privileges name: those to the
// table, its ids and its views, which are the user's matter; what everybody may read of who leads;
// and what the server lets everybody do, to call our functions and to name states.
func allowed(right string) bool {
	switch kind, rest, _ := strings.Cut(right, ":"); kind {
	case "view":
		return true
	case "table":
		return strings.HasPrefix(rest, "task:")
	case "sequence":
		return strings.HasPrefix(rest, "task_id_seq:")
	case "column":
		return strings.HasPrefix(rest, "task_leader.") && strings.HasSuffix(rest, ":SELECT")
	case "function":
		return !strings.HasPrefix(rest, "task_async:")
	case "type":
		return strings.HasPrefix(rest, "state:")
	}
	return false
}

// TestDefaultPrivilegesGiveNobodyWhatIsOurs: of whoever creates it, in whatever way, and again when
// somebody has granted it since.
func TestDefaultPrivilegesGiveNobodyWhatIsOurs(t *testing.T) {
	t.Parallel()
	for name, makes := range map[string]func(*testing.T, *pgx.Conn, Options){
		"Install": func(t *testing.T, conn *pgx.Conn, o Options) {
			if _, err := Install(t.Context(), conn, task, o); err != nil {
				t.Fatal(err)
			}
			if o.Inserter {
				if err := Entitle(t.Context(), conn, task, o.Serving); err != nil {
					t.Fatal(err)
				}
			}
		},
		"DDL": func(t *testing.T, conn *pgx.Conn, o Options) { execute(t, conn, DDL(task, o)) },
	} {
		for _, inserter := range []bool{false, true} {
			for _, byServing := range []bool{false, true} {
				if !servertest.Thorough && byServing != inserter {
					continue
				}
				where := map[bool]string{false: "", true: "IN SCHEMA public "}[inserter != byServing]
				t.Run(fmt.Sprint(name, " ", inserter, " ", byServing), func(t *testing.T) {
					t.Parallel()
					conn := database(t)
					app, serving := stranger(t, conn, "app"), stranger(t, conn, "serving")
					for _, kind := range []string{"TABLES", "SEQUENCES", "FUNCTIONS", "TYPES"} {
						execute(t, conn, fmt.Sprintf("ALTER DEFAULT PRIVILEGES FOR ROLE CURRENT_USER, %s %sGRANT ALL ON %s TO %s WITH GRANT OPTION", serving, where, kind, app))
					}
					o := Options{Inserter: inserter}
					if inserter {
						o.Serving = serving
					}
					execute(t, conn, fmt.Sprintf("GRANT CREATE ON SCHEMA public TO %s; GRANT CREATE ON DATABASE %s TO %[1]s", serving, value(t, conn, "current_database()")))
					by := func(role string) {
						if byServing {
							execute(t, conn, "SET SESSION AUTHORIZATION "+role)
						}
					}
					by(serving)
					makes(t, conn, o)
					by("DEFAULT")
					judge := func(when string) {
						t.Helper()
						rights := granted(t, conn, app)
						if len(rights) < 10 {
							t.Fatal(rights)
						}
						for _, right := range rights {
							if !allowed(right) {
								t.Error(when, ": ", right)
							}
						}
					}
					judge("made")

					hash := task.hash()
					execute(t, conn, fmt.Sprintf("GRANT USAGE ON DOMAIN pgtaskd_call_%s TO %[2]s WITH GRANT OPTION; GRANT ALL ON SEQUENCE pgtaskd_group_%[1]s TO %[2]s; COMMENT ON TABLE task_group IS 'Old (pgtaskd schema 1 0)'", hash, app))
					execute(t, conn, fmt.Sprintf("SET SESSION AUTHORIZATION %s; GRANT USAGE ON DOMAIN pgtaskd_call_%s TO PUBLIC; SELECT setval('pgtaskd_group_%[2]s', 9223372036854775807); RESET SESSION AUTHORIZATION", app, hash))
					by(serving)
					makes(t, conn, o)
					judge("made again")
					execute(t, conn, `INSERT INTO task_group ("group", paused) VALUES ('a', true)`)
					if inserter {
						equal(t, "the serving role may use its domain", value(t, conn, fmt.Sprintf("SELECT has_type_privilege('%s', 'pgtaskd_call_%s', 'USAGE')", serving, hash)), "true")
					}
					defer by("DEFAULT")
					if changes, err := Missing(t.Context(), conn, task, o); err != nil || len(changes) > 0 {
						t.Errorf("%v %v", changes, err)
					}
				})
			}
		}
	}
}

// TestWhoMayMakeOverloadsIsNamed: where the role may not take the right back.
func TestWhoMayMakeOverloadsIsNamed(t *testing.T) {
	t.Parallel()
	conn := database(t)
	app, serving := stranger(t, conn, "app"), stranger(t, conn, "serving")
	execute(t, conn, DDL(task, Options{Role: serving}))
	execute(t, conn, fmt.Sprintf("GRANT USAGE ON DOMAIN pgtaskd_call_%s TO %s, PUBLIC; SET SESSION AUTHORIZATION %s", task.hash(), app, serving))
	d, err := Describe(t.Context(), conn, task)
	execute(t, conn, "RESET SESSION AUTHORIZATION; DROP TABLE task CASCADE")
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"PUBLIC", app} {
		want := fmt.Sprintf("may make functions that are taken for those of table public.task: REVOKE ALL ON DOMAIN public.pgtaskd_call_%s FROM %s CASCADE", task.hash(), who)
		if got := strings.ReplaceAll(strings.Join(d.Without, "\n"), `"`, ""); !strings.Contains(got, "role "+who+" "+want) {
			t.Errorf("%s: %s", who, got)
		}
	}
}

// TestRowSecurityThatMayHideTasksIsNamed: not where all rows are seen.
func TestRowSecurityThatMayHideTasksIsNamed(t *testing.T) {
	t.Parallel()
	conn := database(t)
	app, serving := stranger(t, conn, "app"), stranger(t, conn, "serving")
	execute(t, conn, DDL(task, Options{Role: serving}))
	for _, c := range []struct {
		change string
		named  bool
	}{
		{"ALTER TABLE task ENABLE ROW LEVEL SECURITY", true},
		{"ALTER TABLE task OWNER TO " + serving, false},
		{"ALTER TABLE task FORCE ROW LEVEL SECURITY", true},
		{"CREATE POLICY few ON task USING (id > 0)", true},
		{"CREATE POLICY app ON task TO " + app + " USING (true)", true},
		{"CREATE POLICY own ON task FOR SELECT TO " + serving + " USING (true)", true},
		{"CREATE POLICY everything ON task TO " + serving + " USING (true)", false},
		{"CREATE POLICY strict ON task AS RESTRICTIVE USING (id > 0)", true},
		{"ALTER POLICY strict ON task USING (true)", false},
		{"ALTER POLICY strict ON task WITH CHECK (id > 0)", true},
		{"ALTER POLICY strict ON task TO " + app, false},
		{"CREATE POLICY added ON task AS RESTRICTIVE FOR INSERT TO " + serving + " WITH CHECK (id > 0)", true},
		{"DROP POLICY added ON task", false},
		{"ALTER POLICY everything ON task WITH CHECK (id > 0)", true},
		{"ALTER POLICY everything ON task WITH CHECK (true)", false},
		{"DROP POLICY everything ON task", true},
		{"ALTER ROLE " + serving + " BYPASSRLS", false},
	} {
		execute(t, conn, c.change+"; SET SESSION AUTHORIZATION "+serving)
		d, err := Describe(t.Context(), conn, task)
		execute(t, conn, "RESET SESSION AUTHORIZATION")
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("row security of table public.task may hide tasks from role %s: ALTER ROLE %[1]s BYPASSRLS, or CREATE POLICY … ON public.task TO %[1]s USING (true), with no RESTRICTIVE policy beside it", serving)
		if got := strings.ReplaceAll(strings.Join(d.Without, "\n"), `"`, ""); strings.Contains(got, want) != c.named {
			t.Errorf("after %s: %q", c.change, got)
		}
	}
}

// TestOnlyLabelsOfOursAreReadOfATypeOfOurs, and none of a stranger's, nor types of other names.
func TestOnlyLabelsOfOursAreReadOfATypeOfOurs(t *testing.T) {
	t.Parallel()
	conn := database(t)
	role := stranger(t, conn, "app")
	execute(t, conn, "GRANT CREATE ON SCHEMA public TO "+role+"; SET SESSION AUTHORIZATION "+role)
	for _, name := range []string{"state", "pgtaskd_state", "pgtaskd_state_1", "pgtaskd_state_x", "pgtaskd_state_1000", "pgtaskd_states"} {
		execute(t, conn, "CREATE TYPE "+name+" AS ENUM ('PLAN', 'DONE', 'other')")
	}
	execute(t, conn, "RESET SESSION AUTHORIZATION; CREATE TYPE pgtaskd_state_2 AS ENUM ('PLAN', 'DONE', 'other')")
	f, err := inspect(t.Context(), conn, task, Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, typ := range f.types {
		found[typ.Name] = strings.Join(typ.Labels, " ")
	}
	equal(t, "types", fmt.Sprint(found), "map[pgtaskd_state: pgtaskd_state_1: pgtaskd_state_2:PLAN DONE state:]")
	install(t, conn, task, nil)
	equal(t, "type of the state", value(t, conn, "SELECT atttypid::regtype FROM pg_attribute WHERE attrelid = 'task'::regclass AND attname = 'state'"), "pgtaskd_state_2")
	complete(t, conn, task, nil)
}

// TestAnOverloadOfTheFunctionThatWritesEndsIsNamed: whoever could make one.
func TestAnOverloadOfTheFunctionThatWritesEndsIsNamed(t *testing.T) {
	t.Parallel()
	conn := database(t)
	app, serving := stranger(t, conn, "app"), stranger(t, conn, "serving")
	execute(t, conn, "GRANT CREATE ON SCHEMA public TO "+serving+", "+app)
	if _, err := Install(t.Context(), conn, task, Options{Inserter: true, Serving: serving}); err != nil {
		t.Fatal(err)
	}
	if err := Entitle(t.Context(), conn, task, serving); err != nil {
		t.Fatal(err)
	}
	execute(t, conn, fmt.Sprintf("CREATE FUNCTION pgtaskd_end_%[1]s(bytea, bytea, pgtaskd_call_%[1]s, text[], text[], int DEFAULT 0) RETURNS text LANGUAGE sql AS 'SELECT NULL::text'", task.hash()))
	execute(t, conn, fmt.Sprintf("ALTER FUNCTION pgtaskd_end_%[1]s(bytea, bytea, pgtaskd_call_%[1]s, text[], text[], int) OWNER TO %s", task.hash(), app))
	if is, err := Entitled(t.Context(), conn, task, serving); err != nil || is {
		t.Errorf("%v %v", is, err)
	}
	if err := Entitle(t.Context(), conn, task, serving); !isState(err, "42501") || !strings.Contains(err.Error(), "pgtaskd_end_"+task.hash()) {
		t.Error(err)
	}
}

// TestTheNameOfTheServingRoleIsNotEnough to insert tasks of others: it may have come to be
// another's, who may only insert.
func TestTheNameOfTheServingRoleIsNotEnough(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	owner := connect(t, dsn)
	app, serving := stranger(t, owner, "app"), stranger(t, owner, "serving")
	if _, err := Install(t.Context(), owner, task, Options{Inserter: true, Serving: serving}); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, dsn)
	execute(t, conn, "SET SESSION AUTHORIZATION "+serving)
	for rights, role := range map[string]string{"INSERT, SELECT": serving, "INSERT, SELECT, UPDATE": app} {
		execute(t, owner, "REVOKE ALL ON task FROM "+serving+"; GRANT "+rights+" ON task TO "+serving+"; GRANT USAGE ON SEQUENCE task_id_seq TO "+serving)
		execute(t, conn, "INSERT INTO task (input, role) VALUES ('', '"+app+"')")
		equal(t, rights, value(t, conn, "SELECT role FROM task ORDER BY id DESC LIMIT 1"), role)
	}
}
