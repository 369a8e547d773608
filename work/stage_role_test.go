package work

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/remote"
	"pgtaskd/server/servertest"
)

var roles atomic.Int64

// role makes a role that can only connect, for the time of the test.
func (s *stage) role() (name string) {
	s.t.Helper()
	name = fmt.Sprintf("role_%d", roles.Add(1))
	s.exec("CREATE ROLE " + name + " LOGIN")
	s.t.Cleanup(func() {
		_, err := s.conn.Exec(context.WithoutCancel(s.t.Context()), "DROP OWNED BY "+name+" CASCADE; DROP ROLE "+name, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			s.t.Error(err)
		}
	})
	return name
}

func (s *stage) connectAs(role string) *pgx.Conn {
	s.t.Helper()
	return servertest.Connect(s.t, s.dsn+" user="+role)
}

// owned is a stage whose target is served by its own role, which is no superuser.
func owned(t *testing.T, change ...func(*Target)) *stage {
	t.Helper()
	s := prepared(t, change...)
	role := s.role()
	s.exec("GRANT CREATE, USAGE ON SCHEMA public TO " + role)
	s.target.Connect = s.target.Connect.With(remote.Settings{"user": role})
	s.target.Admin = s.target.Connect
	return s
}

// withRoles is a stage whose target is served by its own role (or by the superuser of the dsn), and
// another role that may create in the schema. In statements $w and $m stand for these roles, and $o
// for a third one.
func withRoles(t *testing.T, super bool) (s *stage, do func(sql string)) {
	t.Helper()
	s = prepared(t)
	database := s.target.Connect["dbname"]
	fill := strings.NewReplacer("$w", "worker_"+database, "$m", "mallory_"+database, "$o", "other_"+database)
	do = func(sql string) {
		t.Helper()
		if _, err := s.conn.PgConn().Exec(t.Context(), fill.Replace(sql)+"; RESET ROLE").ReadAll(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	// 14 gives CREATE to all.
	do("REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE ROLE $w LOGIN; CREATE ROLE $m LOGIN; CREATE ROLE $o")
	t.Cleanup(func() {
		_, err := s.conn.PgConn().Exec(context.Background(), fill.Replace("DROP OWNED BY $w, $m, $o CASCADE; DROP ROLE $w, $m, $o")).ReadAll()
		if err != nil {
			t.Error(err)
		}
	})
	if !super {
		s.target.Connect = s.target.Connect.With(remote.Settings{"user": fill.Replace("$w")})
	}
	return s, do
}

// guest is a stage that is served by a role that is no superuser.
func guest(t *testing.T, change ...func(*Target)) *stage {
	t.Helper()
	s := prepared(t, change...)
	s.exec("CREATE ROLE guest_" + s.get("SELECT current_database()") + " LOGIN")
	role := "guest_" + s.get("SELECT current_database()")
	s.exec("GRANT CREATE ON SCHEMA public TO " + role)
	s.target.Connect = s.target.Connect.With(remote.Settings{"user": role})
	s.serve()
	s.settled()
	return s
}

// Tests of rows that a policy, or somebody's change, withholds from the end of their task.

// guarded serves a table with policies. They apply to its owner, which is a role of its own.
func guarded(t *testing.T, policies string, change ...func(*Target)) *stage {
	t.Helper()
	var role string
	s := prepared(t, append(change, func(target *Target) {
		role = "owner_of_" + target.Connect["dbname"]
		target.Connect = remote.Settings{}
		for key, value := range target.Admin {
			target.Connect[key] = value
		}
		target.Connect["user"] = role
	})...)
	s.exec("CREATE ROLE " + role + " LOGIN; GRANT CREATE ON SCHEMA public TO " + role) // the role goes with the server
	s.serve()
	s.settled()
	s.exec("CREATE TABLE effect (id int8); GRANT ALL ON effect TO PUBLIC")
	if owner := s.get("SELECT tableowner FROM pg_tables WHERE tablename = 'task'"); owner != role {
		t.Fatal("the owner is ", owner)
	}
	s.exec("ALTER TABLE task ENABLE ROW LEVEL SECURITY; ALTER TABLE task FORCE ROW LEVEL SECURITY; " + policies)
	return s
}

// strangerOf makes a role that nobody trusts. Its name is m_ and the name of the test's database.
func strangerOf(s *stage) string {
	s.t.Helper()
	name := "m_" + s.conn.Config().Database
	s.exec("CREATE ROLE " + name + " LOGIN")
	s.t.Cleanup(func() {
		_, err := s.conn.Exec(context.WithoutCancel(s.t.Context()), "DROP OWNED BY "+name+" CASCADE; DROP ROLE "+name, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			s.t.Error(err)
		}
	})
	return name
}
