package work

import (
	"testing"
)

// TestARemoteRunIsExactlyOnce: the row says so before the run starts, and shows its place meanwhile.
func TestARemoteRunIsExactlyOnce(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int8, seen text)")
	id := s.add("input, remote", "INSERT INTO effect SELECT id, concat(state, atomic, xact_at) FROM task WHERE id = current_setting('pg_task.id')::int8", s.dsn)
	s.becomes(id, "DONE")
	if row := s.row(id, "atomic, xact, xact_at, output"); row != `{"atomic":true,"xact":null,"xact_at":null,"output":"INSERT 0 1"}` {
		t.Error(row)
	}
	s.eventually("WORKt", "SELECT seen FROM effect")
}

// TestARemoteThatCannotTell how a transaction has ended: its tasks are at least once, and say so.
func TestARemoteThatCannotTell(t *testing.T) {
	t.Parallel()
	s, elsewhere := play(t), prepared(t)
	elsewhere.exec("CREATE TABLE effect (id int8)")
	user := elsewhere.get("SELECT 'cannot_tell_' || oid FROM pg_database WHERE datname = current_database()")
	elsewhere.exec("CREATE ROLE " + user + " LOGIN; GRANT INSERT ON effect TO " + user + "; REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
	t.Cleanup(func() { elsewhere.clear("DROP OWNED BY " + user + "; DROP ROLE " + user) })
	for dsn, want := range map[string]string{elsewhere.dsn + " user=" + user: "false", elsewhere.dsn: "true"} {
		id := s.add("input, remote", "INSERT INTO effect VALUES (1)", dsn)
		s.becomes(id, "DONE")
		if got := s.get("SELECT atomic FROM task WHERE id = $1", id); got != want {
			t.Errorf("%s: atomic is %s", dsn, got)
		}
	}
}
