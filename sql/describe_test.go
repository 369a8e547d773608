package sql

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	conn := database(t)
	describe := func() Description {
		t.Helper()
		d, err := Describe(t.Context(), conn, task)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	columns := func() string { return told(t, conn) }
	if d := describe(); d.Exists {
		t.Errorf("described before it was made: %+v", d)
	}
	install(t, conn, task, nil)
	d := describe()
	if !d.Exists || d.Partitioned || !d.Waking.Inserts || !d.Waking.Changes {
		t.Errorf("described as %+v", d)
	}
	equal(t, "copied", strings.Join(d.Copied, " "), `"active" "live" "repeat" "timeout" "count" "max" "delete" "drift" "header" "save" "string" `+
		`"delimiter" "escape" "quote" "data" "group" "input" "null" "remote" "author" "rerun" "cron" "until" "priority" "retry" "backoff" "catchup" `+
		`"overlap" "max_failures" "owner" "key" "on_fail" "notify" "settings"`)

	for _, statement := range []string{
		`ALTER TABLE task ADD COLUMN "a ""b" int`,
		"ALTER TABLE task ALTER COLUMN data TYPE varchar",
		"ALTER TABLE task DISABLE TRIGGER pgtaskd_accept",
		"ALTER TYPE state RENAME TO other",
		"CREATE SCHEMA elsewhere; ALTER TYPE other SET SCHEMA elsewhere",
	} {
		told := columns()
		execute(t, conn, statement)
		if columns() == told {
			t.Errorf("%s: nothing tells that it is to be described again", statement)
		}
	}
	d = describe()
	equal(t, "own column", d.Copied[len(d.Copied)-1], `"a ""b"`)
	if d.Waking.Inserts {
		t.Error("a disabled trigger wakes nobody")
	}
}

// told is what tells that the table is to be described again.
func told(t *testing.T, conn *pgx.Conn) (digest string) {
	t.Helper()
	d, err := Describe(t.Context(), conn, task)
	if err == nil {
		err = conn.QueryRow(t.Context(), d.Queries(task).Text("columns"), task.Schema, task.Name).Scan(&digest, nil, nil, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// TestTriggersBelowAreTold: what comes of a row of a partition or child depends on them.
func TestTriggersBelowAreTold(t *testing.T) {
	t.Parallel()
	const partitioned = "CREATE TABLE task (id bigserial, input text NOT NULL) PARTITION BY RANGE (id); "
	for name, tables := range map[string]string{
		"partition":                partitioned + "CREATE TABLE below PARTITION OF task DEFAULT",
		"partition of a partition": partitioned + "CREATE TABLE half PARTITION OF task DEFAULT PARTITION BY RANGE (id); CREATE TABLE below PARTITION OF half DEFAULT",
		"child":                    "CREATE TABLE task (id bigserial PRIMARY KEY, input text NOT NULL); CREATE TABLE below () INHERITS (task)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := database(t)
			execute(t, conn, tables)
			install(t, conn, task, nil)
			execute(t, conn, "CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
			statements := []string{
				"CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON below FOR EACH ROW EXECUTE FUNCTION late()",
				"DROP TRIGGER late ON below; CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON below DEFERRABLE FOR EACH ROW EXECUTE FUNCTION late()",
				"ALTER TABLE below DISABLE TRIGGER late",
				"ALTER TABLE below ENABLE ALWAYS TRIGGER late",
				"DROP TRIGGER late ON below",
			}
			if name != "child" {
				statements = append(statements, "ALTER TABLE below DISABLE TRIGGER pgtaskd_accept")
			}
			for _, statement := range statements {
				before := told(t, conn)
				if execute(t, conn, statement); told(t, conn) == before {
					t.Errorf("%s: nothing tells that it is to be described again", statement)
				}
			}
			before := told(t, conn)
			if execute(t, conn, "INSERT INTO below (input) VALUES (''); COMMENT ON TABLE below IS ''; ANALYZE below"); told(t, conn) != before {
				t.Error("what is no matter is told")
			}
		})
	}
}
