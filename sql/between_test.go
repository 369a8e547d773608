package sql

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// between is what somebody makes after the owners were looked at, while a thing of theirs that is
// not committed holds up an earlier step, and is rolled back then. $h is the table's hash.
var between = []struct {
	name, before, meanwhile string
	refused                 bool // the whole, by its name
}{
	{
		"register with a rule", "CREATE TABLE public.pgtaskd_open_$h (a int)",
		`CREATE TABLE public.pgtaskd_session_$h (pid int, started timestamptz); GRANT ALL ON public.pgtaskd_session_$h TO PUBLIC;
		CREATE RULE r AS ON DELETE TO public.pgtaskd_session_$h DO ALSO SELECT app.evil()`, true,
	},
	{
		"register with a policy", "CREATE TABLE public.pgtaskd_open_$h (a int)",
		`CREATE TABLE public.pgtaskd_session_$h (pid int, started timestamptz); GRANT ALL ON public.pgtaskd_session_$h TO PUBLIC; INSERT INTO public.pgtaskd_session_$h VALUES (1, now());
		CREATE POLICY p ON public.pgtaskd_session_$h USING (app.evil()); ALTER TABLE public.pgtaskd_session_$h ENABLE ROW LEVEL SECURITY`, true,
	},
	{
		"table of controllers with a rule", "CREATE TABLE public.pgtaskd_open_$h (a int)",
		`CREATE TABLE public.task_leader (controller text PRIMARY KEY, leads bool, since timestamptz, seen timestamptz, host text, pid int, version text, run int, timezone text);
		GRANT ALL ON public.task_leader TO PUBLIC; CREATE RULE r AS ON DELETE TO public.task_leader DO ALSO SELECT app.evil()`, false,
	},
	{
		"function of the groups", "CREATE FUNCTION public.pgtaskd_group_note_$h() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
		"CREATE FUNCTION public.pgtaskd_group_tell_$h() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'", false,
	},
	{
		"function with a seal", "CREATE TABLE public.pgtaskd_open_$h (a int)",
		`CREATE FUNCTION public.task_async() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
		DO $$BEGIN EXECUTE format('COMMENT ON FUNCTION public.task_async() IS %L', concat(' #', (SELECT system_identifier FROM pg_control_system()), '-', 'public.task_async()'::regprocedure::oid)); END$$`, false,
	},
	{"functions that people call", "CREATE TABLE public.pgtaskd_open_$h (a int)", "CREATE FUNCTION public.task_data() RETURNS jsonb LANGUAGE sql AS 'SELECT NULL::jsonb'", false},
	{"index", "CREATE TABLE public.pgtaskd_open_$h (a int)", "CREATE TABLE public.mine (a int); CREATE INDEX pgtaskd_wait_key_$h ON public.mine (a)", true},
}

// TestNothingOfOthersIsUsedThatCameMeanwhile: between the look at the owners and the statement that
// makes a thing where it is not there.
func TestNothingOfOthersIsUsedThatCameMeanwhile(t *testing.T) {
	t.Parallel()
	n := 0
	for _, c := range between {
		for way, makes := range map[string]func(context.Context, *pgx.Conn) error{
			"Install": func(ctx context.Context, conn *pgx.Conn) error {
				_, err := Install(ctx, conn, task, Options{})
				return err
			},
			"Rehearse": func(ctx context.Context, conn *pgx.Conn) error {
				_, err := Rehearse(ctx, conn, task, Options{})
				return err
			},
			"DDL": func(ctx context.Context, conn *pgx.Conn) error {
				_, err := conn.Exec(ctx, DDL(task, Options{}), pgx.QueryExecModeSimpleProtocol)
				return err
			},
		} {
			for _, who := range []string{"superuser", "worker"} {
				if n++; !servertest.Thorough && n%8 != 1 {
					continue
				}
				t.Run(c.name+", "+way+", "+who, func(t *testing.T) {
					t.Parallel()
					m := newMeanwhile(t, who)
					m.does(c.before, c.meanwhile, func() {
						err := makes(t.Context(), m.conn)
						if c.refused && (err == nil || !strings.Contains(err.Error(), m.role) && !strings.Contains(err.Error(), "must be owner of index")) {
							t.Errorf("refused by: %v", err)
						}
					})
					equal(t, "what has run of theirs", value(t, m.admin, "SELECT is_called FROM app.ran"), "false")
					equal(t, "functions of theirs that fire", value(t, m.admin, "SELECT count(*) FROM pg_trigger JOIN pg_proc AS p ON p.oid = tgfoid WHERE proowner = '"+m.role+"'::regrole"), "0")
					equal(t, "what of theirs has a comment of ours", value(t, m.admin, `SELECT count(*) FROM pg_description LEFT JOIN pg_proc AS p ON p.oid = objoid LEFT JOIN pg_class AS c ON c.oid = objoid
						WHERE description LIKE '%pgtaskd schema%' AND coalesce(proowner, relowner) = '`+m.role+"'::regrole"), "0")
					equal(t, "functions of ours that they may call", value(t, m.admin, "SELECT count(*) FROM pg_proc WHERE proname = 'task_async' AND proowner <> '"+m.role+"'::regrole AND has_function_privilege('"+m.role+"', oid, 'EXECUTE')"), "0")
				})
			}
		}
	}
}

// meanwhile is a database in which somebody may create things in the schema of the table.
type meanwhile struct {
	*testing.T
	admin, conn *pgx.Conn // conn makes the table
	role        string    // the attacker's
	dsn         string
}

func newMeanwhile(t *testing.T, who string) *meanwhile {
	t.Helper()
	dsn := servertest.Database(t)
	m := &meanwhile{T: t, admin: connect(t, dsn), conn: connect(t, dsn), dsn: dsn}
	m.role = stranger(t, m.admin, "evil")
	execute(t, m.admin, "GRANT CREATE ON SCHEMA public TO "+m.role+"; CREATE SCHEMA app AUTHORIZATION "+m.role+"; GRANT USAGE ON SCHEMA app TO PUBLIC; SET SESSION AUTHORIZATION "+m.role+`;
		CREATE SEQUENCE app.ran; GRANT ALL ON SEQUENCE app.ran TO PUBLIC; CREATE FUNCTION app.evil() RETURNS bool LANGUAGE plpgsql AS $$
		BEGIN IF current_user <> '`+m.role+`' THEN PERFORM setval('app.ran', 1); END IF; RETURN true; END$$; RESET SESSION AUTHORIZATION`)
	if who != "superuser" {
		worker := stranger(t, m.admin, who)
		execute(t, m.admin, "GRANT CREATE ON SCHEMA public TO "+worker)
		execute(t, m.conn, "SET SESSION AUTHORIZATION "+worker)
	}
	return m
}

// does has the attacker make one thing before, and another while do waits for the first, which is
// rolled back.
func (m *meanwhile) does(before, meanwhile string, do func()) {
	m.Helper()
	as := "SET SESSION AUTHORIZATION " + m.role + "; "
	first, second, watcher := connect(m.T, m.dsn), connect(m.T, m.dsn), connect(m.T, m.dsn)
	hash := strings.NewReplacer("$h", task.hash())
	execute(m.T, first, as+"BEGIN; "+hash.Replace(before))
	done := make(chan error, 1)
	go func() {
		done <- func() error {
			var err error
			if !servertest.Comes(time.Minute, func() (waits bool) {
				err = watcher.QueryRow(m.Context(), "SELECT cardinality(pg_blocking_pids($1)) > 0", m.conn.PgConn().PID()).Scan(&waits)
				return waits || err != nil
			}) || err != nil {
				return errors.Join(errors.New("nothing has waited"), err)
			}
			if _, err := second.Exec(m.Context(), as+hash.Replace(meanwhile), pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
			_, err = first.Exec(m.Context(), "ROLLBACK")
			return err
		}()
	}()
	do()
	if err := <-done; err != nil {
		m.Fatal(err)
	}
}

// TestTheScriptSeesWhatHasComeMeanwhile, whatever isolation the database's owner has set for its
// transactions, and does nothing within one that does not.
func TestTheScriptSeesWhatHasComeMeanwhile(t *testing.T) {
	t.Parallel()
	m := newMeanwhile(t, "superuser")
	execute(t, m.conn, "SET default_transaction_isolation = 'repeatable read'")
	const theirs = `CREATE TYPE app.t AS (a int); CREATE FUNCTION app.t_as_text(app.t) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN PERFORM app.evil(); RETURN NULL; END$$;
		CREATE CAST (app.t AS text) WITH FUNCTION app.t_as_text(app.t) AS ASSIGNMENT; CREATE TABLE public.task (id bigserial PRIMARY KEY, input text NOT NULL DEFAULT '', key app.t DEFAULT row(1)); INSERT INTO public.task DEFAULT VALUES`
	m.does("CREATE TYPE public.state AS ENUM ()", theirs, func() {
		_, err := m.conn.Exec(t.Context(), DDL(task, Options{}), pgx.QueryExecModeSimpleProtocol)
		if err == nil || !strings.Contains(err.Error(), "belongs to role "+m.role) {
			t.Errorf("refused by: %v", err)
		}
	})
	equal(t, "what has run of theirs", value(t, m.admin, "SELECT is_called FROM app.ran"), "false")
	execute(t, m.conn, "ROLLBACK; BEGIN; SELECT")
	_, err := m.conn.Exec(t.Context(), strings.Replace(DDL(task, Options{}), "\nBEGIN", "\n--", 1), pgx.QueryExecModeSimpleProtocol)
	if !isState(err, "55000") || !strings.Contains(err.Error(), "READ COMMITTED") {
		t.Errorf("refused by: %v", err)
	}
	execute(t, m.conn, "ROLLBACK")
}

// TestATypeOfOthersIsNotUsed that came to be in the moment before ours is made.
func TestATypeOfOthersIsNotUsed(t *testing.T) {
	t.Parallel()
	for _, s := range steps() {
		name := map[kind]string{typeStep: "state", callStep: "pgtaskd_call_" + task.hash()}[s.kind]
		if name == "" {
			continue
		}
		m := newMeanwhile(t, "superuser")
		execute(t, m.admin, "SET SESSION AUTHORIZATION "+m.role+"; CREATE DOMAIN public."+name+" AS text CHECK (app.evil()); RESET SESSION AUTHORIZATION")
		execute(t, m.conn, "BEGIN; SET LOCAL pgtaskd.trusted = '{10}'")
		refused(t, m.conn, names{table: task, state: stateOf(task, "state")}.fill(s.sql), "55000")
		execute(t, m.conn, "ROLLBACK; BEGIN; SET LOCAL pgtaskd.trusted = '{10,"+value(t, m.admin, "SELECT '"+m.role+"'::regrole::oid")+"}'")
		execute(t, m.conn, names{table: task, state: stateOf(task, "state")}.fill(s.sql)+"; ROLLBACK")
	}
}

// TestNobodyHasAColumnOfTheTypeOfTokens, which would be in the way of a change of their table.
func TestNobodyHasAColumnOfTheTypeOfTokens(t *testing.T) {
	t.Parallel()
	m := newMeanwhile(t, "superuser")
	serving := stranger(t, m.admin, "serving")
	execute(t, m.admin, "GRANT CREATE ON SCHEMA public TO "+serving)
	if _, err := Install(t.Context(), m.conn, task, Options{Inserter: true, Serving: serving}); err != nil {
		t.Fatal(err)
	}
	if err := Entitle(t.Context(), m.conn, task, serving); err != nil {
		t.Fatal(err)
	}
	execute(t, m.admin, "SET SESSION AUTHORIZATION "+m.role)
	for _, array := range []string{"", "[]"} {
		refused(t, m.admin, "CREATE TABLE app.x (k int, c "+Tokens(task)+array+")", "42501")
	}
	execute(t, m.admin, "RESET SESSION AUTHORIZATION")
}

// TestATableOfTokensOfOthersIsNotUsed that came to be after the look at its owner, or took the place
// of one that was looked at.
func TestATableOfTokensOfOthersIsNotUsed(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"where there was none": false, "where one of ours was dropped": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMeanwhile(t, "superuser")
			serving := stranger(t, m.admin, "serving")
			execute(t, m.admin, "GRANT CREATE ON SCHEMA public TO "+serving)
			if _, err := Install(t.Context(), m.conn, task, Options{Inserter: true, Serving: serving}); err != nil {
				t.Fatal(err)
			}
			execute(t, m.admin, "SELECT pg_advisory_lock(1)")
			theirs := strings.NewReplacer("$t", Tokens(task), "$r", m.role).Replace("CREATE TABLE $t (pid int4 PRIMARY KEY, token bytea NOT NULL, CHECK (app.evil())); GRANT ALL ON $t TO PUBLIC; ALTER TABLE $t OWNER TO $r")
			if before {
				if err := Entitle(t.Context(), m.conn, task, serving); err != nil {
					t.Fatal(err)
				}
				theirs = "DROP TABLE " + Tokens(task) + "; " + theirs
			}

			// The look is held up behind its end.
			statements := strings.Join(names{table: task, serving: serving}.entitling(), "\n")
			const behind = "    IF other IS NOT NULL THEN"
			if strings.Count(statements, behind) != 1 {
				t.Fatal("the look has another end")
			}
			held := make(chan error, 1)
			go func() {
				_, err := m.conn.Exec(t.Context(), "BEGIN; SET LOCAL lock_timeout = 0; "+strings.Replace(statements, behind, "PERFORM pg_catalog.pg_advisory_lock(1);\n"+behind, 1)+"; COMMIT", pgx.QueryExecModeSimpleProtocol)
				held <- err
			}()
			waits := connect(t, m.dsn)
			if !servertest.Comes(time.Minute, func() bool {
				return value(t, waits, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND NOT granted") == "1"
			}) {
				t.Fatal("nothing waits behind the look")
			}
			execute(t, waits, theirs)
			execute(t, m.admin, "SELECT pg_advisory_unlock(1)")
			if err := <-held; err == nil {
				t.Error("it is used")
			}
			execute(t, m.conn, "ROLLBACK")
			equal(t, "whose it is", value(t, m.admin, "SELECT relowner::regrole = '"+m.role+"'::regrole FROM pg_class WHERE oid = "+literal(Tokens(task))+"::regclass"), "true")
			if err := Entitle(t.Context(), m.conn, task, serving); err == nil || !strings.Contains(err.Error(), "has a name that the table needs") {
				t.Errorf("refused by: %v", err)
			}
		})
	}
}
