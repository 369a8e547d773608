package schema

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

// makers are the two ways to make a table.
var makers = map[string]func(*testing.T, *pgx.Conn, sql.Table){
	"Install": func(t *testing.T, conn *pgx.Conn, table sql.Table) { install(t, conn, table, nil) },
	"DDL":     func(t *testing.T, conn *pgx.Conn, table sql.Table) { script(t, conn, table, Options{}) },
}

// present counts our objects beside the table.
func present(t *testing.T, conn *pgx.Conn, table sql.Table) (n int) {
	t.Helper()
	f, err := inspect(t.Context(), conn, table)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range besideSteps() {
		if _, ours := f.besides.find(s); ours {
			n++
		}
	}
	return n
}

// TestNamesBesideTheTable: each table has its own, at most 63 bytes long.
func TestNamesBesideTheTable(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 56)
	equal(t, "short", sql.BesideName(task, "leader"), "task_leader")
	equal(t, "just short enough", sql.BesideName(named("public", long), "leader"), long+"_leader")
	seen := map[string]bool{}
	for _, name := range []string{long + "a", long + "b", long + strings.Repeat("c", 7), strings.Repeat("a", 46) + strings.Repeat("é", 8)} {
		got := sql.BesideName(named("public", name), "leader")
		if len(got) > 63 || !strings.HasSuffix(got, "_leader") || seen[got] || strings.ToValidUTF8(got, "") != got {
			t.Errorf("%s is called %s", name, got)
		}
		seen[got] = true
	}
}

// TestEachTableHasItsOwnBesideIt: tables with odd names, and another role's table in the schema.
func TestEachTableHasItsOwnBesideIt(t *testing.T) {
	t.Parallel()
	for way, makes := range makers {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			dsn := servertest.Database(t)
			conn := connect(t, dsn)
			role := stranger(t, conn, "app")
			other := connect(t, dsn)
			if way == "Install" { // the script refuses where others may create; the functions are the first role's
				execute(t, conn, "GRANT CREATE ON SCHEMA public TO "+role+"; GRANT CREATE ON DATABASE "+value(t, conn, "current_database()")+" TO "+role)
				execute(t, other, "SET SESSION AUTHORIZATION "+role)
			} else {
				role = "postgres"
			}
			makes(t, conn, task)
			makes(t, other, named("public", "job"))
			for _, name := range []string{`it's "$body$" $statements$ $pgtaskd$ \ ` + "\t:table", strings.Repeat("é", 31)} {
				table := named("public", name)
				makes(t, conn, table)
				complete(t, conn, table, nil)
				equal(t, "objects beside "+name, value(t, conn, "SELECT "+sql.Literal(sql.Beside(table, "leader"))+"::regclass::text"), strings.TrimPrefix(sql.Beside(table, "leader"), `"public".`))
			}
			if n, m := present(t, conn, task), present(t, other, named("public", "job")); n != len(sql.Objects) || m != n {
				t.Errorf("%d and %d objects beside the two tables", n, m)
			}
			equal(t, "owner", value(t, conn, "SELECT relowner::regrole::text FROM pg_class WHERE relname = 'job_leader'"), role)
			complete(t, conn, task, nil)
			complete(t, other, named("public", "job"), nil)
		})
	}
}

// TestWhatHasANameBesideTheTableIsLeftAlone, and the other objects are made.
func TestWhatHasANameBesideTheTableIsLeftAlone(t *testing.T) {
	t.Parallel()
	for way, makes := range makers {
		if way == "DDL" { // the script refuses it
			continue
		}
		for what, statements := range servertest.SomeOf(map[string]string{
			"a table":                          "CREATE TABLE task_leader (mine int)",
			"a view that claims to be a table": "CREATE VIEW task_leader AS SELECT 1 AS mine; COMMENT ON VIEW task_leader IS '(pgtaskd schema 1)'; ALTER VIEW task_leader OWNER TO $r",
			"a type":                           "CREATE TYPE task_leader AS ENUM ()",
			"a sequence of a column":           "CREATE TABLE other (leader serial); ALTER SEQUENCE other_leader_seq RENAME TO task_leader",
		}) {
			t.Run(way+"/"+what, func(t *testing.T) {
				t.Parallel()
				conn := database(t)
				role := stranger(t, conn, "app")
				execute(t, conn, strings.ReplaceAll(statements, "$r", role))
				makes(t, conn, task)
				makes(t, conn, task)
				complete(t, conn, task, nil)
				if n := present(t, conn, task); n != len(sql.Objects)-1 {
					t.Errorf("%d objects", n)
				}
				d, err := Describe(t.Context(), conn, task)
				if err != nil || d.Leader != 0 || len(d.Without) != 1 || !strings.Contains(d.Without[0], "task_leader") {
					t.Errorf("%v %q, %v", d.Leader, d.Without, err)
				}
			})
		}
	}
}

// TestWhatAnotherBuildHasMadeBesideTheTable is replaced, unless that build has a later schema.
func TestWhatAnotherBuildHasMadeBesideTheTable(t *testing.T) {
	t.Parallel()
	for way, makes := range makers {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			conn := database(t)
			makes(t, conn, task)
			comment := "SELECT obj_description('task_leader'::regclass, 'pg_class')"
			ours := value(t, conn, comment)
			execute(t, conn, "COMMENT ON TABLE task_leader IS 'Old (pgtaskd schema 1 00000000)'; INSERT INTO task_leader VALUES ('me', true, now(), now())")
			makes(t, conn, task)
			equal(t, "comment", value(t, conn, comment), ours)
			equal(t, "rows", value(t, conn, "SELECT count(*) FROM task_leader"), "1")
			if way == "DDL" { // the script cannot see it
				return
			}
			execute(t, conn, "COMMENT ON TABLE task_leader IS 'Later (pgtaskd schema 999 00000000)'")
			makes(t, conn, task)
			equal(t, "comment", value(t, conn, comment), "Later (pgtaskd schema 999 00000000)")
		})
	}
}

// TestWithoutTheRightToMakeWhatStandsBeside: the table is served without these objects, and is
// complete.
func TestWithoutTheRightToMakeWhatStandsBeside(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	owner := connect(t, dsn)
	role := stranger(t, owner, "worker")
	script(t, owner, task, Options{Role: role})
	conn := connect(t, dsn)
	execute(t, conn, "SET SESSION AUTHORIZATION "+role)
	d, err := Describe(t.Context(), conn, task)
	if err != nil || d.Leader == 0 || len(d.Without) > 0 {
		t.Errorf("granted: %d %q, %v", d.Leader, d.Without, err)
	}
	execute(t, owner, "REVOKE INSERT ON task_leader FROM "+role)
	if d, err = Describe(t.Context(), conn, task); err != nil || d.Leader != 0 || len(d.Without) != 1 || !strings.Contains(d.Without[0], "GRANT INSERT ON TABLE") {
		t.Errorf("revoked: %d %q, %v", d.Leader, d.Without, err)
	}
	execute(t, owner, "DROP TABLE task_leader; REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	complete(t, conn, task, nil)
}

// TestATableOfTasksIsNothingBesideAnother, even if its name fits: its rights stay as they are.
func TestATableOfTasksIsNothingBesideAnother(t *testing.T) {
	t.Parallel()
	conn := database(t)
	reader := stranger(t, conn, "reader")
	for _, object := range []string{"group", "leader"} {
		other := sql.Table{Schema: task.Schema, Name: task.Name + "_" + object}
		install(t, conn, other, nil)
		execute(t, conn, "GRANT SELECT ON "+other.String()+" TO "+reader+"; INSERT INTO "+other.String()+" (input) VALUES ('SELECT 1')")
	}
	install(t, conn, task, nil)
	for _, object := range []string{"group", "leader"} {
		if kept := value(t, conn, "SELECT has_table_privilege('"+reader+"', 'task_"+object+"', 'SELECT') AND EXISTS (SELECT FROM task_"+object+")"); kept != "true" {
			t.Errorf("task_%s has lost rights or rows", object)
		}
	}
}
