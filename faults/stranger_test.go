package faults

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
	"pgtaskd/sql/lock"
)

// TestStranger: a role that may only connect holds the lock of a target's leader. The log and check
// name it, and the target is served when the lock is free.
func TestStranger(t *testing.T) {
	t.Parallel()
	s := prepare(t, servertest.Server(t), nil)
	s.exec("CREATE ROLE $n_stranger LOGIN")
	conn := servertest.Connect(t, s.server.DSN(s.name)+" user="+s.name+"_stranger")
	k := lock.Leadership(sql.Table{Schema: "public", Name: "task"}, false)
	if has, err := k.Take(t.Context(), conn); err != nil || !has {
		t.Fatal(has, err)
	}
	c := serve(t, s)
	end := fmt.Sprintf("SELECT pg_terminate_backend(%d)", conn.PgConn().PID())
	s.says("another role leads")
	if said := s.checked(); !strings.Contains(said, end) || !strings.Contains(said, s.name+"_stranger") {
		t.Errorf("check says %q", said)
	}
	servertest.Exec(t, conn, "SELECT pg_advisory_unlock_all()")
	s.load(20)
	s.endWell()
	c.beside.check()
}
