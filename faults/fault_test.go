package faults

import (
	"slices"
	"strings"
	"testing"

	"pgtaskd/remote"
	"pgtaskd/server/servertest"
	"pgtaskd/work"
)

// fault is a fault of a target, and its consequences.
type fault struct {
	name   string
	cause  string         // statements; $n is the name of the database and the role
	during func(s *stage) // while it lasts; nil: insert tasks
	says   []string       // log lines meanwhile, a part of each
	check  string         // part of the output of pgtaskd check
	cure   func(s *stage)
	tcp    bool // the target connects by TCP, with a password
}

// Open sessions survive the loss of the right to open a session.
const (
	endSessions = "; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$n' AND application_name LIKE 'pg\\_task %'"
	endControl  = "; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$n' AND application_name LIKE 'pgtaskd %'"
	endAll      = "; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$n'"
)

// fullDisk makes a trigger that meets a full disk when a task gets a state. It causes the server's
// own error, since an error raised by SQL would be the row's fault.
func fullDisk(state string) string {
	return `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $f$ BEGIN
			COPY (SELECT 1) TO '/dev/full'; RETURN NEW; END $f$;
		CREATE TRIGGER full_disk BEFORE UPDATE ON task FOR EACH ROW WHEN (NEW.state = '` + state + `') EXECUTE FUNCTION full_disk()`
}

func then(statements string) func(*stage) { return func(s *stage) { s.Helper(); s.exec(statements) } }

// again makes the table again with the output of pgtaskd schema.
func again(s *stage) {
	s.Helper()
	s.exec("TRUNCATE effect")
	s.exec("SET ROLE $n; " + tableDDL + "; RESET ROLE")
}

// table takes ownership from the role, which keeps the rights of a role that only serves.
const table = `ALTER TABLE task OWNER TO postgres; GRANT ALL ON task TO $n; GRANT USAGE ON SEQUENCE task_id_seq TO $n; `

// ended begins the log line when all sessions are ended: the server's message, or, if we write at
// that moment, that the connection is broken.
const ended = "target failed: "

var faults = []fault{
	{
		name: "right", cause: table + "REVOKE UPDATE ON task FROM $n",
		says: []string{"rights are missing: GRANT UPDATE ON public.task TO "}, check: "would grant",
		cure: then("GRANT UPDATE ON task TO $n"),
	},
	{
		name: "right to read", cause: table + "REVOKE SELECT ON task FROM $n",
		says: []string{"rights are missing: GRANT SELECT ON public.task TO "},
		cure: then("GRANT SELECT ON task TO $n"),
	},
	{
		name: "schema", cause: "ALTER SCHEMA public OWNER TO postgres; REVOKE ALL ON SCHEMA public FROM PUBLIC, $n",
		says: []string{"rights are missing: GRANT USAGE ON SCHEMA public TO "},
		cure: then("GRANT USAGE ON SCHEMA public TO $n"),
	},
	{
		name: "connect", cause: "ALTER DATABASE $n OWNER TO postgres; REVOKE ALL ON DATABASE $n FROM PUBLIC, $n" + endSessions,
		says: []string{"cannot open more sessions; tasks wait for the open ones"}, check: "permission denied for database",
		cure: then("GRANT CONNECT ON DATABASE $n TO $n"),
	},
	{
		name: "login", cause: "ALTER ROLE $n NOLOGIN" + endAll,
		says: []string{ended, "is not permitted to log in"}, check: "is not permitted to log in",
		cure: then("ALTER ROLE $n LOGIN"),
	},
	{
		name: "read-only role", cause: "ALTER ROLE $n SET default_transaction_read_only = on",
		says: []string{"default_transaction_read_only is on"}, check: "default_transaction_read_only is on",
		cure: then("ALTER ROLE $n RESET default_transaction_read_only"),
	},
	{
		name: "read-only database", cause: "ALTER DATABASE $n SET default_transaction_read_only = on" + endAll,
		says: []string{ended, "default_transaction_read_only is on"}, check: "default_transaction_read_only is on",
		cure: func(s *stage) { s.on(s.connect("postgres"), "ALTER DATABASE $n RESET default_transaction_read_only") },
	},
	{
		name: "library that is not there", cause: "ALTER ROLE $n SET local_preload_libraries = 'nowhere'" + endSessions,
		says: []string{"ALTER ROLE … RESET"}, check: "58P01",
		cure: then("ALTER ROLE $n RESET local_preload_libraries"),
	},
	{
		name: "limit of the role", cause: "ALTER ROLE $n CONNECTION LIMIT 3" + endSessions,
		during: func(s *stage) {
			s.load(60)
			s.endWell() // with two sessions
		},
		says: []string{"too many connections for role"},
		cure: then("ALTER ROLE $n CONNECTION LIMIT -1"),
	},
	{
		name: "limit of the database", cause: "ALTER DATABASE $n CONNECTION LIMIT 2" + endSessions,
		says: []string{"too many connections for database"}, check: "too many connections",
		cure: then("ALTER DATABASE $n CONNECTION LIMIT -1"),
	},
	{
		name: "locked table", cause: "BEGIN; LOCK TABLE task; INSERT INTO task (input) VALUES ('SELECT 1')",
		during: func(*stage) {}, says: []string{"is locked by pid"}, check: "55P03",
		cure: func(s *stage) { // not at the moment when a wait for it times out
			other := *s
			other.conn = s.connect(s.name)
			other.becomes("true", `SELECT EXISTS (SELECT FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND usename = current_database()
				AND application_name LIKE 'pgtaskd %' AND clock_timestamp() - query_start < '1 s')`)
			s.exec("COMMIT")
		},
	},
	{
		name: "dropped table", cause: "DROP TABLE task", during: func(*stage) {},
		says: []string{`is gone: create or restore it`}, check: `would create table "public"."task"`,
		cure: again,
	},
	{
		name: "dropped schema", cause: "DROP SCHEMA public CASCADE", during: func(*stage) {},
		says: []string{`is gone: create or restore it`}, check: `would create schema "public"`,
		cure: func(s *stage) {
			s.exec("CREATE SCHEMA public; GRANT ALL ON SCHEMA public TO $n; CREATE TABLE effect (id int8); GRANT ALL ON effect TO $n")
			again(s)
		},
	},
	{
		name: "password", tcp: true, cause: "ALTER ROLE $n PASSWORD 'second'" + endAll,
		says: []string{ended, "(SQLSTATE 28P01) / the password in the dsn"}, check: "password authentication failed",
		cure: then("ALTER ROLE $n PASSWORD 'first'"),
	},
	{
		name: "pg_hba.conf", tcp: true,
		during: func(s *stage) {
			s.admit("host all " + s.name + " 127.0.0.1/32 reject")
			s.exec("SELECT 1" + endAll)
			s.load(20)
		},
		says: []string{ended, "pg_hba.conf rejects connection"}, check: "pg_hba.conf rejects connection",
		cure: func(s *stage) { s.admit() },
	},
	{
		name: "dropped database",
		during: func(s *stage) {
			s.conn = s.connect("postgres")
			if err := servertest.Drop(s.Context(), s.conn, s.name); err != nil {
				s.Fatal(err)
			}
		},
		says: []string{ended, "(SQLSTATE 3D000) / create or restore the database"}, check: "would create database",
		cure: func(s *stage) {
			s.exec("CREATE DATABASE $n TEMPLATE template_of_faults OWNER $n")
			s.conn = s.connect(s.name)
			s.exec("REASSIGN OWNED BY fault TO $n; REVOKE ALL ON SCHEMA public FROM fault; GRANT ALL ON SCHEMA public TO $n")
		},
	},
	{
		name: "full disk at the end", cause: fullDisk("DONE"), during: func(s *stage) { s.load(3) },
		says: []string{full}, cure: then("DROP FUNCTION full_disk CASCADE"),
	},
}

// TestFaults: each fault is logged once, and once when it is over. Then the delayed work is done;
// the neighbour has not noticed.
func TestFaults(t *testing.T) {
	t.Parallel()
	stages := make([]*stage, len(faults))
	for i, f := range faults {
		stages[i] = prepare(t, servertest.Server(t), nil)
		if f.tcp {
			stages[i].target.Connect = stages[i].target.Connect.With(remote.Settings{"host": "127.0.0.1", "password": "first", "sslmode": "disable"})
		}
	}
	c := serve(t, stages...)
	t.Run("each", func(t *testing.T) {
		for i, f := range faults {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				s := *stages[i]
				s.T = t
				s.settled()
				f.happen(&s)
			})
		}
	})
	c.beside.check()
}

// happen makes the fault, and waits for its end.
func (f *fault) happen(s *stage) {
	s.load(20)
	s.done(patience)
	if f.cause != "" {
		s.exec(f.cause)
	}
	if f.during != nil {
		f.during(s)
	} else {
		s.load(20)
	}
	for _, part := range f.says {
		s.says(part)
	}
	if said := s.checked(); !strings.Contains(said, f.check) {
		s.Errorf("check says %q", said)
	}
	f.cure(s)
	s.load(1)
	s.endWell()
	s.until(patience, "the end of it", func() bool {
		return f.says == nil || s.count("target recovered")+s.count("sessions available again") > 0
	})
	want := append(slices.Clone(f.says), "leading", "target recovered")
	if s.count("target recovered") == 0 && s.count("sessions available again") > 0 {
		want = append(slices.Clone(f.says), "sessions available again")
	} else if f.says == nil {
		want = nil
	}
	s.saidOnly(want)
	s.Log(strings.Join(s.said(), "\n"))
}

// saidOnly checks the lines of the log, by a part of each, except lines that may or may not come.
// "sessions available again" may come late.
func (s *stage) saidOnly(want []string) {
	s.Helper()
	const again = "sessions available again"
	said := slices.DeleteFunc(s.said(), func(l string) bool {
		return strings.HasPrefix(l, "task failed") || l == again && !slices.Contains(want, again) || strings.HasPrefix(l, "found interrupted tasks") || strings.HasPrefix(l, "cannot open a session") || strings.Contains(l, "(SQLSTATE 57P03)")
	})
	if strings.Contains(strings.Join(s.said(), "\n"), "(SQLSTATE 57P03)") && !strings.Contains(strings.Join(said, "\n"), "failed to connect") {
		want = slices.DeleteFunc(slices.Clone(want), func(part string) bool { return part == "failed to connect" }) // the server was up again before we tried
	}
	ok := len(said) == len(want)
	for i := range min(len(said), len(want)) {
		ok = ok && strings.Contains(said[i], want[i])
	}
	if !ok {
		s.Errorf("the log says\n%s\nand not\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
}

// checked returns the output of pgtaskd check.
func (s *stage) checked() string {
	r := work.Check(s.Context(), s.target)
	return strings.Join(append(r.Lines, r.Faults...), "\n")
}
