package query

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/major"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql/schema"
)

// told returns the digest whose change tells that the table must be described again.
func told(t *testing.T, conn *pgx.Conn) (digest string) {
	t.Helper()
	text := Of(described(t, conn), task).Text("columns")
	if err := conn.QueryRow(t.Context(), text, task.Schema, task.Name).Scan(&digest, nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	return digest
}

// TestChangesOfTheTableAreTold: each of these changes the digest.
func TestChangesOfTheTableAreTold(t *testing.T) {
	t.Parallel()
	conn := servertest.Connect(t, tasktest.Database(t))
	for _, statement := range []string{
		`ALTER TABLE task ADD COLUMN "a ""b" int`,
		"ALTER TABLE task ALTER COLUMN data TYPE varchar",
		"ALTER TABLE task DISABLE TRIGGER pgtaskd_accept",
		"ALTER TYPE state RENAME TO other",
		"CREATE SCHEMA elsewhere; ALTER TYPE other SET SCHEMA elsewhere",
	} {
		before := told(t, conn)
		servertest.Exec(t, conn, statement)
		if told(t, conn) == before {
			t.Errorf("%s: nothing tells that it is to be described again", statement)
		}
	}
}

// TestTriggersBelowAreTold: triggers of a partition or child decide what happens to its rows.
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
			conn := servertest.Connect(t, servertest.Database(t))
			servertest.Exec(t, conn, tables)
			tasktest.Make(t, conn, schema.Options{})
			servertest.Exec(t, conn, "CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
			statements := []string{
				"CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON below FOR EACH ROW EXECUTE FUNCTION late()",
				"DROP TRIGGER late ON below; CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON below DEFERRABLE FOR EACH ROW EXECUTE FUNCTION late()",
				"ALTER TABLE below DISABLE TRIGGER late",
				"ALTER TABLE below ENABLE ALWAYS TRIGGER late",
				"DROP TRIGGER late ON below",
			}
			if name != "child" && major.PartitionedTriggers.Of(conn) {
				statements = append(statements, "ALTER TABLE below DISABLE TRIGGER pgtaskd_accept")
			}
			for _, statement := range statements {
				before := told(t, conn)
				if servertest.Exec(t, conn, statement); told(t, conn) == before {
					t.Errorf("%s: nothing tells that it is to be described again", statement)
				}
			}
			before := told(t, conn)
			if servertest.Exec(t, conn, "INSERT INTO below (input) VALUES (''); COMMENT ON TABLE below IS ''; ANALYZE below"); told(t, conn) != before {
				t.Error("what is no matter is told")
			}
		})
	}
}
