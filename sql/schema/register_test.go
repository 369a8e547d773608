package schema

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

// stranger makes a role until the test ends.
func stranger(t *testing.T, owner *pgx.Conn, name string) string {
	t.Helper()
	role := name + "_" + value(t, owner, "current_database()")
	execute(t, owner, "CREATE ROLE "+role+" LOGIN")
	t.Cleanup(func() {
		if _, err := owner.Exec(context.Background(), "DROP OWNED BY "+role+" CASCADE; DROP ROLE "+role, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Error(err)
		}
	})
	return role
}

// may returns the rights of a role to the register.
func may(t *testing.T, conn *pgx.Conn, role string) string {
	t.Helper()
	return value(t, conn, "SELECT coalesce(string_agg(r, ' '), '') FROM unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) AS r WHERE has_table_privilege('"+
		role+"', '"+sql.Beside(task, "session")+"', r)")
}

// TestTheServingRoleMayUseTheRegister: the script grants it that, and takes nothing back when it
// runs again.
func TestTheServingRoleMayUseTheRegister(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	owner := connect(t, dsn)
	role := stranger(t, owner, "worker")
	script(t, owner, task, Options{Role: role})
	equal(t, "rights", may(t, owner, role), "SELECT INSERT DELETE")
	script(t, owner, task, Options{})
	equal(t, "rights", may(t, owner, role), "SELECT INSERT DELETE")

	conn := connect(t, dsn)
	execute(t, conn, "SET SESSION AUTHORIZATION "+role)
	unregistered(t, conn, "")
	execute(t, owner, "REVOKE DELETE ON TABLE "+sql.Beside(task, "session")+" FROM "+role)
	unregistered(t, conn, "GRANT DELETE ON TABLE "+sql.Beside(task, "session"))
	execute(t, owner, "DROP TABLE "+sql.Beside(task, "session"))
	unregistered(t, conn, "pgtaskd schema")
	execute(t, owner, "GRANT CREATE ON SCHEMA public TO "+role)
	complete(t, conn, task, nil) // a role that does not own the table does not make the register
	execute(t, owner, "REVOKE CREATE ON SCHEMA public FROM PUBLIC, "+role+"; ALTER TABLE task OWNER TO "+role)
	complete(t, conn, task, nil) // nor does a role that may not create
	execute(t, owner, "GRANT CREATE ON SCHEMA public TO "+role)
	changes := install(t, conn, task, nil)
	if len(changes) != 1 || changes[0].What != "table task_session" {
		t.Errorf("made: %v", changes)
	}
	unregistered(t, conn, "")
}

func unregistered(t *testing.T, conn *pgx.Conn, why string) {
	t.Helper()
	d, err := Describe(t.Context(), conn, task)
	said := strings.Join(d.Without, "; ")
	if err != nil || (d.Register == 0) != (why != "") || !strings.Contains(said, why) || (why == "") != !strings.Contains(said, "register") {
		t.Errorf("register %d, %q, %v; want %q", d.Register, said, err, why)
	}
}
