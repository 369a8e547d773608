package work

import (
	"context"
	"strings"
	"testing"

	"pgtaskd/remote"
)

// withRoles is a stage whose target is served by a role of its own (or by the superuser, as whom
// the dsn logs in), and another role that may create in the schema. In statements $w and $m stand
// for them, and $o for one more.
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
	do("REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE ROLE $w LOGIN; CREATE ROLE $m LOGIN; CREATE ROLE $o") // 14 gives CREATE to all
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

// TestTheDsnsUserMakesWhatIsNotThere: the table is its own, and the role gets what it takes to
// serve it.
func TestTheDsnsUserMakesWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s, _ := withRoles(t, false)
	if report := Check(t.Context(), s.target); len(report.Faults) > 0 {
		t.Errorf("check complains %q", report.Faults)
	}
	s.serve()
	s.settled()
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	if owner := s.get("SELECT tableowner FROM pg_tables WHERE tablename = 'task'"); owner != s.target.Admin["user"] {
		t.Error("the owner is ", owner)
	}
	s.exec("ALTER TABLE task DROP COLUMN notice")
	s.eventually("1", "SELECT count(*) FROM pg_attribute WHERE attrelid = 'task'::regclass AND attname = 'notice'")
}

// TestOwnersThatChangeAreNoticed: what could run with the table becomes somebody else's while it is
// served.
func TestOwnersThatChangeAreNoticed(t *testing.T) {
	t.Parallel()
	for what, sql := range map[string]string{
		"schema public":     "ALTER SCHEMA public OWNER TO $m",
		"table public.p1":   "ALTER TABLE p1 OWNER TO $m",
		"table public.task": "ALTER TABLE task OWNER TO $m",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s, do := withRoles(t, true)
			must(t, s.conn, parts)
			s.serve()
			s.settled()
			s.becomes(s.add("input, delete", "SELECT 1", false), "DONE") // it has been looked at
			do(sql)
			s.exec("INSERT INTO task (input) VALUES ('SELECT 1')") // so that the leader looks
			s.says(what, "mallory_")
		})
	}
}
