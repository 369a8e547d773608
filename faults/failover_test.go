package faults

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

// either is the connection string of the server, of two, that accepts writes.
func either(first, second *server.Server) string {
	return fmt.Sprintf("host=%s,%s port=%d,%d user=postgres target_session_attrs=read-write", first.SocketDir, second.SocketDir, first.Port, second.Port)
}

// TestFailover: the primary stops at once, and its standby is promoted. Tasks go on there.
func TestFailover(t *testing.T) {
	t.Parallel()
	primary := servertest.New(t, server.Options{})
	standby := servertest.Standby(t, primary)
	var stages []*stage
	for _, dsn := range []string{either(primary, standby), either(standby, primary)} {
		stages = append(stages, prepare(t, primary, object{"dsn": dsn, "remotes": object{"elsewhere": dsn}}))
	}
	waits := prepare(t, primary, object{"dsn": standby.DSN("postgres")})
	waits.becomes("true", "SELECT bool_and(replay_lsn >= $1::text::pg_lsn) FROM pg_stat_replication", waits.get("SELECT pg_create_restore_point('all of it')"))
	waits.exec("ALTER SYSTEM SET hot_standby = off")
	cold := servertest.Standby(t, primary) // accepts no connections before it is promoted
	starts := prepare(t, primary, object{"dsn": cold.DSN("postgres")})
	starts.becomes("true", "SELECT bool_and(replay_lsn >= $1::text::pg_lsn) AND count(*) = 2 FROM pg_stat_replication", starts.get("SELECT pg_create_restore_point('all of it')"))
	c := serve(t, append(stages, waits, starts)...)
	starts.says(starting)
	if said := starts.checked(); !strings.Contains(said, "57P03") {
		t.Errorf("check says %q", said)
	}
	if err := cold.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	waits.says(promoted)
	if said := waits.checked(); !strings.Contains(said, "in recovery") {
		t.Errorf("check says %q", said)
	}

	for _, s := range stages {
		s.settled()
		s.exec(`INSERT INTO task ("group", remote, input)
			SELECT i % 8, CASE i % 8 WHEN 0 THEN 'elsewhere' END, CASE WHEN i % 8 > 0 THEN $1 || '; ' ELSE '' END || 'SELECT pg_sleep(0.02)'
			FROM generate_series(1, 400) AS i`, effect)
		s.becomes("true", "SELECT count(*) > 50 FROM task WHERE state = 'DONE'")
	}
	if err := primary.Crash(); err != nil {
		t.Fatal(err)
	}
	for _, s := range stages {
		s.says("target failed")
	}
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	waits.server, starts.server = standby, cold
	for _, s := range append(stages, waits, starts) {
		if s.server == primary {
			s.server = standby
		}
		s.conn = s.connect(s.name)
		s.load(5)
		s.endWell()
		s.says("target recovered")
		t.Log(strings.Join(s.said(), "\n"))
	}
	c.beside.check()
}
