package sql

import (
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

// restore makes the schema of the database of from anew in that of to, as pg_dump prints it with
// these flags.
func restore(t *testing.T, from, to *pgx.Conn, flags ...string) {
	t.Helper()
	bindir, err := server.Bindir()
	if err != nil {
		t.Fatal(err)
	}
	c := from.Config()
	where := &url.URL{Scheme: "postgresql", User: url.User(c.User), RawQuery: url.Values{"host": {c.Host}, "dbname": {c.Database}}.Encode()}
	where.Host = ":" + value(t, from, "current_setting('port')")
	dump := exec.CommandContext(t.Context(), filepath.Join(bindir, "pg_dump"), append(flags, "--schema-only", where.String())...)
	dump.Env = append(dump.Environ(), "PGPASSWORD="+c.Password)
	script, err := dump.Output()
	if err != nil {
		t.Fatal(err)
	}
	var statements strings.Builder
	for line := range strings.Lines(string(script)) {
		if !strings.HasPrefix(line, `\`) && !strings.Contains(line, "search_path") { // commands of psql
			statements.WriteString(line)
		}
	}
	execute(t, to, statements.String())
}

// TestADumpBringsNobodyARight to what pgtaskd has made beside the table, though it leaves rights
// behind, and default privileges give others where it is restored; nor a trigger, or a row, that they
// have made before pgtaskd looks at it. What of theirs depends on its functions keeps nothing from that.
func TestADumpBringsNobodyARight(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"as it is":                   nil,
		"without rights":             {"--no-owner", "--no-acl"},
		"without rights or comments": {"--no-owner", "--no-acl", "--no-comments"},
	} {
		for way, makes := range makers {
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				if way == "DDL" && strings.Contains(name, "comments") {
					return // what has no comment is left alone by the script
				}
				from, to := database(t), database(t)
				role, other := stranger(t, to, "app"), stranger(t, to, "other")
				makes(t, from, task)
				execute(t, to, "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO "+role+" WITH GRANT OPTION; ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO "+role+"; ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO "+role)
				restore(t, from, to, flags...)
				columnRights := ""
				if !strings.Contains(name, "comments") {
					columnRights = "GRANT SELECT, INSERT (pid, started), REFERENCES (pid) ON " + Register(task) + " TO " + other + "; GRANT INSERT (\"group\", paused) ON task_group TO " + other + "; GRANT UPDATE (leads) ON task_leader TO PUBLIC; "
				}
				execute(t, to, "CREATE SCHEMA app AUTHORIZATION "+role+"; SET SESSION AUTHORIZATION "+role+"; CREATE TABLE app.pay (id int); "+
					"CREATE FUNCTION app.evil() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''evil runs as %'', current_user; END'; "+
					"CREATE TRIGGER pgtaskd_token BEFORE DELETE ON "+Register(task)+" FOR EACH ROW EXECUTE FUNCTION app.evil(); CREATE TRIGGER evil AFTER INSERT ON task_group EXECUTE FUNCTION app.evil(); "+
					"DO $$BEGIN CREATE VIEW app.v AS SELECT public.pgtaskd_async_usual_"+task.hash()+"(''::public.pgtaskd_call_"+task.hash()+"), public.task_why(1); "+
					"EXCEPTION WHEN insufficient_privilege THEN NULL; /* on the type, where the dump brings rights */ END$$; "+
					"CREATE TABLE app.n (a int); CREATE TRIGGER g BEFORE INSERT ON app.n FOR EACH ROW EXECUTE FUNCTION public.pgtaskd_group_note_"+task.hash()+"(); "+
					"CREATE TABLE app.f (controller text REFERENCES task_leader ON DELETE CASCADE, \"group\" text REFERENCES task_group); "+
					"CREATE UNLOGGED TABLE app.g (pid int, started timestamptz, FOREIGN KEY (pid, started) REFERENCES "+Register(task)+" ON DELETE CASCADE); CREATE TRIGGER evil AFTER UPDATE ON task_leader FOR EACH ROW EXECUTE FUNCTION task_async('SELECT 1'); "+
					columnRights+ // of columns, to somebody else
					// A number that anybody may choose, with a comment of theirs.
					"DO $$DECLARE n oid; BEGIN FOREACH n IN ARRAY ARRAY["+literal(Register(task))+"::regclass::oid, 'task_leader'::regclass::oid, 'task_group'::regclass::oid, 'task_async()'::regprocedure::oid] LOOP PERFORM lo_create(n); "+
					"EXECUTE format('COMMENT ON LARGE OBJECT %s IS %L', n, concat(' #', (SELECT system_identifier FROM pg_control_system()), '-', n)); END LOOP; END$$; "+
					"INSERT INTO "+Register(task)+" VALUES (1, now()); INSERT INTO task_leader (controller, leads, since, seen) VALUES ('evil', true, now(), now()); RESET SESSION AUTHORIZATION")

				makes(t, to, task)
				const rights = `SELECT coalesce(string_agg(format('%s: %s', o, r), ' '), '') FROM unnest(ARRAY[$1, 'task_leader', 'task_group']) AS o,
					unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) AS r WHERE has_table_privilege($2, o, r) AND ($3 OR o <> 'task_leader' AND o <> 'task_group')`
				commented := !strings.Contains(name, "comments") // else the two tables are not taken for ours
				equal(t, "rights to tables", servertest.Get(t, to, rights, Register(task), role, commented), "")
				const columns = `SELECT coalesce(string_agg(format('%s.%s: %s', o, attname, attacl), ' '), '') FROM unnest(ARRAY[$1, 'task_leader', 'task_group']) AS o
					JOIN pg_attribute ON attrelid = o::regclass WHERE attacl::text ~ 'w|a|x' AND ($2 OR o = $1)`
				equal(t, "rights to columns", servertest.Get(t, to, columns, Register(task), commented), "")
				equal(t, "rights to the function of the groups", value(t, to, "SELECT count(*) FROM pg_proc WHERE proname LIKE 'pgtaskd_group_tell_%' AND has_function_privilege('"+role+"', oid, 'EXECUTE') AND "+strconv.FormatBool(commented)), "0")
				equal(t, "rights to the sequence", servertest.Get(t, to, "SELECT has_sequence_privilege($1, $2, 'USAGE, SELECT, UPDATE') AND $3", role, limits(task), commented), "false")
				const made = "FROM unnest(ARRAY[$1, 'task_leader', 'task_group']) AS o, pg_"
				equal(t, "triggers", servertest.Get(t, to, "SELECT coalesce(string_agg(tgname, ' '), '') "+made+"trigger WHERE tgrelid = o::regclass AND NOT tgisinternal AND tgname NOT IN ('pgtaskd_note', 'pgtaskd_tell') AND ($2 OR o = $1)", Register(task), commented), "")
				equal(t, "foreign keys", servertest.Get(t, to, "SELECT count(*) "+made+"constraint WHERE confrelid = o::regclass AND ($2 OR o = $1)", Register(task), commented), "0")
				equal(t, "keys", servertest.Get(t, to, "SELECT count(*) "+made+"constraint WHERE conrelid = o::regclass AND contype = 'p' AND $2", Register(task), true), "3")
				equal(t, "rows", value(t, to, "SELECT count(*) FROM "+Register(task)), "0")
				refused(t, to, "SET SESSION AUTHORIZATION "+role+"; CREATE TRIGGER x AFTER INSERT ON app.pay FOR EACH ROW EXECUTE FUNCTION task_async('1')", "42501")

				// What is granted then stays.
				execute(t, to, "RESET SESSION AUTHORIZATION; GRANT EXECUTE ON FUNCTION task_async() TO "+role+"; GRANT UPDATE ON task_group TO "+role)
				makes(t, to, task)
				equal(t, "what was granted", value(t, to, "SELECT has_function_privilege('"+role+"', 'task_async()', 'EXECUTE') AND has_table_privilege('"+role+"', 'task_group', 'UPDATE')"), "true")
				complete(t, to, task, nil)
			})
		}
	}
}

// TestWhatCallsARestoredFunctionIsNamed: until its rights are there anybody may attach it to a table.
func TestWhatCallsARestoredFunctionIsNamed(t *testing.T) {
	t.Parallel()
	from, to := database(t), database(t)
	role := stranger(t, to, "app")
	install(t, from, task, nil)
	execute(t, from, `CREATE TABLE "A pay" (id int); CREATE TRIGGER later AFTER INSERT ON "A pay" FOR EACH ROW EXECUTE FUNCTION task_async('SELECT 1')`)
	restore(t, from, to, "--no-acl")
	execute(t, to, "CREATE SCHEMA z AUTHORIZATION "+role+"; SET SESSION AUTHORIZATION "+role+"; CREATE TABLE z.evil (id int); CREATE TRIGGER x AFTER INSERT ON z.evil FOR EACH ROW EXECUTE FUNCTION task_async('SELECT 1'); RESET SESSION AUTHORIZATION")
	const want = `a dump has brought function "public"."task_async"(), and anybody could let triggers call it meanwhile: DROP TRIGGER those that are not meant of z.evil, public."A pay"`
	named := func() string {
		d, err := Describe(t.Context(), to, task)
		if err != nil {
			t.Fatal(err)
		}
		return strconv.FormatBool(strings.Contains(strings.Join(d.Without, "; "), want))
	}
	equal(t, "it is named before", named(), "true")
	changes, err := Install(t.Context(), to, task, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	for _, change := range changes {
		if change.Note != "" {
			notes = append(notes, change.What+": "+change.Note)
		}
	}
	equal(t, "what is said when it is made again", strings.Join(notes, "; "), "function task_async: "+want)
	equal(t, "it is named afterwards", named(), "false")
}

// TestADumpBringsNoToken: who has written one while it was restored, before the trigger that keeps
// others from that, writes no end with it.
func TestADumpBringsNoToken(t *testing.T) {
	t.Parallel()
	for name, theirs := range map[string]string{
		"a row":          "",
		"without a key":  "ALTER TABLE $t DROP CONSTRAINT $k; INSERT INTO $t SELECT * FROM $t; ", // where the restore could not make it
		"what they made": "CREATE SCHEMA app AUTHORIZATION $r; SET SESSION AUTHORIZATION $r; CREATE VIEW app.v AS SELECT * FROM $t; CREATE UNLOGGED TABLE app.f (pid int REFERENCES $t); RESET SESSION AUTHORIZATION; ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := database(t), database(t)
			role, serving := stranger(t, to, "app"), value(t, to, "SELECT current_user")
			entitles := func(conn *pgx.Conn) {
				t.Helper()
				if _, err := Install(t.Context(), conn, task, Options{Inserter: true, Serving: serving}); err != nil {
					t.Fatal(err)
				}
				if err := Entitle(t.Context(), conn, task, serving); err != nil {
					t.Fatal(err)
				}
			}
			entitled := func(want bool) {
				t.Helper()
				if is, err := Entitled(t.Context(), to, task, serving); err != nil || is != want {
					t.Errorf("entitled: %t, %v; want %t", is, err, want)
				}
			}
			entitles(from)
			restore(t, from, to)
			execute(t, to, "INSERT INTO "+Tokens(task)+" VALUES ("+value(t, to, "SELECT pg_backend_pid()")+", sha256('x'))")
			if name == "what they made" {
				execute(t, to, "GRANT SELECT, REFERENCES ON "+Tokens(task)+" TO "+role)
			}
			execute(t, to, strings.NewReplacer("$t", Tokens(task), "$k", tokensName(task)+"_pkey", "$r", role).Replace(theirs)+"REVOKE ALL ON "+Tokens(task)+" FROM "+role)
			end := "SET SESSION AUTHORIZATION " + role + `; SELECT public.pgtaskd_end_` + task.hash() + `('x', sha256('x'), 'pg_catalog', '{}', '{}')`
			refused(t, to, end, "42501") // not before either

			entitles(to)
			entitled(true)
			refused(t, to, end, "42501")
			equal(t, "rows and keys", value(t, to, "SELECT concat((SELECT count(*) FROM "+Tokens(task)+"), ' ', count(*)) FROM pg_constraint WHERE conrelid = "+literal(Tokens(task))+"::regclass AND contype = 'p'"), "0 1")

			// What is made here keeps its rows.
			execute(t, to, "INSERT INTO "+Tokens(task)+" VALUES (1, 'x')")
			entitles(to)
			equal(t, "rows", value(t, to, "SELECT count(*) FROM "+Tokens(task)), "1")
			execute(t, to, "DO $$BEGIN EXECUTE format('COMMENT ON TABLE %s IS %L', "+literal(Tokens(task))+", regexp_replace(obj_description("+literal(Tokens(task))+"::regclass), '#[0-9]+-', '#1-')); END$$")
			entitled(false) // of another server
		})
	}
}

// TestNothingOfOthersIsInTheWayOfNewTokens: whoever may use the schema can have an expression with
// the type of the rows, which is neither waited for nor lost when the table is made anew.
func TestNothingOfOthersIsInTheWayOfNewTokens(t *testing.T) {
	t.Parallel()
	for name, theirs := range map[string]string{
		"nothing":       "CREATE TABLE app.x (k int)",
		"an expression": "CREATE TABLE app.x (k int DEFAULT ((NULL::$t).pid))",
		"an array":      "CREATE TABLE app.x (k int, CHECK (k > (('{}'::$t[])[1]).pid))",
		"a column":      "CREATE TABLE app.x (k int, c $t)",
		"a view":        "CREATE VIEW app.x AS SELECT * FROM $t",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := database(t)
			role, serving := stranger(t, conn, "app"), value(t, conn, "SELECT current_user")
			named := strings.NewReplacer("$t", Tokens(task), "$r", role).Replace
			employ(t, conn)
			entitle := func() {
				t.Helper()
				if err := Entitle(t.Context(), conn, task, serving); err != nil {
					t.Fatal(err)
				}
			}
			entitle()
			execute(t, conn, named("CREATE SCHEMA app AUTHORIZATION $r; GRANT USAGE ON TYPE $t TO $r; GRANT SELECT, UPDATE ON $t TO $r; SET ROLE $r; "+theirs+"; RESET ROLE"))
			definition := "SELECT concat((SELECT string_agg(concat(attname, ' ', atthasdef), ',') FROM pg_attribute " +
				"WHERE attrelid = 'app.x'::regclass AND NOT attisdropped AND attnum > 0), (SELECT count(*) FROM pg_constraint WHERE conrelid = 'app.x'::regclass AND contype = 'c'))"
			before, number := value(t, conn, definition), value(t, conn, named("SELECT '$t'::regclass::oid"))
			execute(t, conn, named("COMMENT ON TABLE $t IS 'as a dump brings it'"))
			reader := connect(t, conn.Config().ConnString())
			execute(t, reader, "BEGIN; LOCK TABLE ONLY app.x IN ACCESS SHARE MODE") // of a view what it reads, too
			if name == "a view" {
				execute(t, reader, "ROLLBACK")
			}

			entitle()
			if is, err := Entitled(t.Context(), conn, task, serving); err != nil || !is {
				t.Errorf("entitled: %t, %v", is, err)
			}
			equal(t, "what is theirs", value(t, conn, definition), before)
			if value(t, conn, named("SELECT '$t'::regclass::oid")) == number {
				t.Error("the table is the one that the dump has brought")
			}
			stays := "0"
			if name != "nothing" {
				stays = "1"
			}
			equal(t, "old tables", value(t, conn, "SELECT count(*) FROM pg_class WHERE oid = "+number), stays)
			equal(t, "rights and triggers there", value(t, conn, "SELECT count(*) FROM pg_class AS c WHERE oid = "+number+
				" AND (EXISTS (SELECT FROM aclexplode(c.relacl) AS a WHERE a.grantee <> c.relowner) OR EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid))"), "0")
		})
	}
}
