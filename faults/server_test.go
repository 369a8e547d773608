package faults

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

// TestServer: faults of a whole server, one after the other.
func TestServer(t *testing.T) {
	t.Parallel()
	on := servertest.New(t, server.Options{Settings: map[string]string{"max_connections": "20", "superuser_reserved_connections": "5"}})
	s := prepare(t, on, nil)
	c := serve(t, s)
	s.settled()
	for _, f := range []fault{
		{
			name: "read-only",
			during: func(s *stage) {
				s.each("SET default_transaction_read_only = off", "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
				s.load(20)
			},
			says: []string{"default_transaction_read_only is on"}, check: "default_transaction_read_only is on",
			cure: func(s *stage) { s.each("ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()") },
		},
		{
			name: "connections",
			during: func(s *stage) {
				s.crowd(t)
				s.load(20)
			},
			says: []string{"(SQLSTATE 53300) / raise max_connections"}, check: "53300",
			cure: then("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'crowd'"),
		},
		{
			name: "crash",
			during: func(s *stage) {
				s.load(20)
				if err := on.Crash(); err != nil {
					t.Fatal(err)
				}
			},
			says: []string{"", "failed to connect"}, check: "cannot connect",
			cure: func(s *stage) {
				if err := on.Restart(t.Context()); err != nil {
					t.Fatal(err)
				}
				s.conn = s.connect(s.name)
			},
		},
	} {
		t.Run(f.name, func(t *testing.T) {
			of := *s
			of.T = t
			of.forget()
			f.happen(&of)
		})
	}
	t.Run("full disk", func(t *testing.T) {
		of := *s
		of.T, of.conn = t, s.connect(s.name)
		of.forget()
		of.fill()
	})
	c.beside.check()
}

// fill makes tasks fail as on a full disk: only some, as the rest waits. If SQL only raises that
// error, nothing follows.
func (s *stage) fill() {
	s.Helper()
	s.exec("INSERT INTO task (input) VALUES ($f$DO $$BEGIN RAISE 'No space left on device' USING ERRCODE = '53100'; END$$ $f$)")
	s.becomes("FAIL", "SELECT state FROM task WHERE input LIKE 'DO%'")
	s.saidOnly(nil)
	_, room := servertest.FullDisk(s, s.conn, s.get("SELECT pid FROM pg_stat_activity WHERE usename = $1 AND application_name LIKE 'pgtaskd %' AND pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')", s.name))
	s.exec("CREATE FUNCTION work() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $f$ BEGIN COPY (SELECT 1) TO '/dev/full'; END $f$")
	s.exec(`INSERT INTO task ("group", input, priority) SELECT i % 4, 'SELECT pg_sleep(0.1), work()', 1 FROM generate_series(1, 200) AS i`)
	s.says(full)
	s.becomes("true", "SELECT count(*) > 0 FROM task WHERE state = 'FAIL' AND priority = 1")
	room()
	s.exec("CREATE OR REPLACE FUNCTION work() RETURNS void LANGUAGE sql AS ''")
	s.done(soon)
	s.is("true", "SELECT count(*) < 100 FROM task WHERE state = 'FAIL'")
	s.says(roomAgain)
	s.saidOnly([]string{full, roomAgain})
}

// each runs statements, each in its own transaction.
func (s *stage) each(statements ...string) {
	s.Helper()
	for _, statement := range statements {
		s.exec(statement)
	}
}

// admit writes lines before the others in pg_hba.conf, in place of its earlier ones.
func (s *stage) admit(lines ...string) {
	s.Helper()
	const mark = "# the server's own"
	path := s.get("SELECT current_setting('hba_file')")
	text := s.get("SELECT pg_read_file($1)", path)
	if _, own, marked := strings.Cut(text, mark+"\n"); marked {
		text = own
	}
	text = strings.Join(append(lines, mark, ""), "\n") + text
	s.exec("CREATE TEMP TABLE hba AS SELECT unnest(string_to_array($1, E'\\n')) AS line", text)
	s.each("COPY hba TO '"+path+"'", "DROP TABLE hba", "SELECT pg_reload_conf()")
}

// crowd opens connections, and ends the target's sessions meanwhile, until the server accepts no
// more.
func (s *stage) crowd(t *testing.T) {
	t.Helper()
	s.exec("SELECT 1" + endSessions)
	dsn := strings.Replace(s.server.DSN("postgres"), "user=postgres", "user="+s.name, 1) + " application_name=crowd"
	for {
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			return
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
	}
}
