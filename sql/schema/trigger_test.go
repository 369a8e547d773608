package schema

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

func TestChangesWakeTheLeaderWhereTheyMatter(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	execute(t, conn, "INSERT INTO task (input) SELECT 'SELECT 1' FROM generate_series(1, 100)")
	execute(t, conn, "LISTEN nothing_else; LISTEN "+sql.Channel(task))
	for _, c := range []struct {
		statement string
		wakes     bool
	}{
		{"UPDATE task SET data = 'x' WHERE id = 1", false},
		{"UPDATE task SET plan = plan + '1 hour' WHERE id = 1", true},
		{`UPDATE task SET "group" = 'other' WHERE id = 1`, true},
		{"UPDATE task SET remote = 'dbname=x' WHERE id = 1", true},
		{"UPDATE task SET max = 1 WHERE id = 1", true},
		{"UPDATE task SET priority = 1 WHERE id = 1", true},
		{"UPDATE task SET state = 'STOP' WHERE id = 1", true},
		{"UPDATE task SET state = 'PLAN' WHERE id = 1", true},
		{"SET application_name = 'pgtaskd public task'; UPDATE task SET state = 'WORK' WHERE id = 1; RESET application_name", false},
		{"UPDATE task SET state = 'DONE' WHERE id = 1", false},
		{"UPDATE task SET state = 'PLAN' WHERE id = 1", true},
		{"SET application_name = 'pgtaskd public task'; UPDATE task SET state = 'WORK' WHERE id IN (1, 2); RESET application_name", false},
		{"UPDATE task SET state = 'STOP' WHERE id = 1", true},
		{"UPDATE task SET stop = now() WHERE id = 1", false},
		{"DELETE FROM task WHERE id = 1", false},
		{"DELETE FROM task WHERE id = 2", true},
	} {
		execute(t, conn, c.statement)
		if c.wakes {
			notified(t, conn, sql.Channel(task))
		}
		unnotified(t, conn, c.statement)
	}
	execute(t, conn, "ALTER TABLE task RENAME TO job")
	job := named("public", "job")
	execute(t, conn, "LISTEN "+sql.Channel(job)+"; UPDATE job SET max = 1 WHERE id = 3")
	notified(t, conn, sql.Channel(job))
}

func TestStopOnEndedTasksStopsTheirRepetitions(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	for _, c := range []struct{ name, rows, statement, want string }{
		{"an ended one stays", "(1, 'DONE', NULL)", "", "DONE"},
		{"failed and gone ones too", "(1, 'FAIL', NULL), (2, 'GONE', NULL)", "", "FAIL GONE"},
		{"a waiting one pauses", "(1, 'PLAN', NULL)", "", "STOP"},
		{"the repetition instead", "(1, 'DONE', 2), (2, 'PLAN', NULL)", " WHERE id = 1", "DONE STOP"},
		{"a running repetition", "(1, 'DONE', 2), (2, 'WORK', NULL)", " WHERE id = 1", "DONE STOP"},
		{"both in one statement", "(1, 'DONE', 2), (2, 'PLAN', NULL)", "", "DONE STOP"},
		{"both, the repetition first", "(1, 'PLAN', NULL), (2, 'DONE', 1)", "", "STOP DONE"},
		{"a chain", "(1, 'DONE', 2), (2, 'FAIL', 3), (3, 'TAKE', NULL), (4, 'PLAN', NULL)", " WHERE id < 3", "DONE FAIL STOP PLAN"},
		{"a repetition that is gone", "(1, 'DONE', 2)", "", "DONE"},
		{"one that is ended is let alone", "(1, 'DONE', 2), (2, 'DONE', 3), (3, 'PLAN', NULL)", " WHERE id = 1", "DONE DONE PLAN"},
		{"other columns are set", "(1, 'DONE', 2), (2, 'PLAN', NULL)", ", data = 'x' WHERE id = 1", "DONE STOP"},
	} {
		servertest.Replicate(t, conn, "TRUNCATE task; INSERT INTO task (id, state, next, input) SELECT id, state::state, next::int8, '' FROM (VALUES "+
			c.rows+") AS v (id, state, next)")
		execute(t, conn, "UPDATE task SET state = 'STOP'"+c.statement)
		equal(t, c.name, allStates(t, conn), c.want)
	}
	// An ORM writes all columns back; that stops nothing.
	execute(t, conn, "TRUNCATE task; INSERT INTO task (id, state, next, input) VALUES (1, 'DONE', 2, ''), (2, 'PLAN', NULL, '')")
	execute(t, conn, "UPDATE task SET state = 'DONE', data = 'x' WHERE id = 1")
	equal(t, "state written back", allStates(t, conn), "DONE PLAN")
	// Somebody may run an ended task again, and pgtaskd may write the end of a task that a user has
	// stopped.
	execute(t, conn, "UPDATE task SET state = 'PLAN' WHERE id = 1")
	equal(t, "set to PLAN", allStates(t, conn), "PLAN PLAN")
	execute(t, conn, "UPDATE task SET state = 'STOP' WHERE id = 1; UPDATE task SET stop = now() WHERE id = 1")
	equal(t, "stopped", value(t, conn, "SELECT concat(state, stop IS NULL) FROM task WHERE id = 1"), "STOPf")
}

// TestStopOfWhatIsUnderWayIsNoted: the row tells a task to be cancelled from a paused one.
func TestStopOfWhatIsUnderWayIsNoted(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	servertest.Replicate(t, conn, `INSERT INTO task (id, state, input) VALUES (1, 'PLAN', ''), (2, 'TAKE', ''), (3, 'WORK', ''), (4, 'DONE', ''), (5, 'STOP', '')`)
	const stopping = "SELECT string_agg(concat(state, ' ', stopping), ', ' ORDER BY id) FROM task"
	for range 2 {
		execute(t, conn, "UPDATE task SET state = 'STOP'")
		equal(t, "stopped", value(t, conn, stopping), "STOP , STOP t, STOP t, DONE , STOP ")
	}
	execute(t, conn, "SET enable_seqscan = off")
	equal(t, "in the index", value(t, conn, "SELECT string_agg(id::text, ' ' ORDER BY id) FROM task WHERE due IS NULL AND stopping"), "2 3")
	execute(t, conn, "UPDATE task SET state = 'PLAN'")
	equal(t, "resumed", value(t, conn, stopping), "PLAN , PLAN , PLAN , PLAN , PLAN ")
	servertest.Replicate(t, conn, `INSERT INTO task (id, state, input, key) VALUES (6, 'WORK', '', 'job'), (7, 'PLAN', '', 'job')`)
	execute(t, conn, `UPDATE task SET state = 'STOP' WHERE id = 6`)
	equal(t, "beside one that waits", value(t, conn, "SELECT string_agg(coalesce(wait_key, '-'), ' ' ORDER BY id) FROM task WHERE key = 'job'"), "- job")
}

// TestPlanOfWhatWasStoppedWhileItRan: runs keeps the run, though nobody has written its end.
func TestPlanOfWhatWasStoppedWhileItRan(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	servertest.Replicate(t, conn, `INSERT INTO task (id, state, start, pid, error, runs, input) VALUES
		(1, 'WORK', now(), 1, NULL, NULL, ''),
		(2, 'WORK', now(), 2, 'ERROR:  tried', (SELECT jsonb_agg(n) FROM generate_series(1, 20) AS n), ''),
		(3, 'TAKE', NULL, 3, NULL, NULL, ''),
		(4, 'PLAN', NULL, NULL, NULL, NULL, '')`)
	execute(t, conn, "UPDATE task SET state = 'STOP'")
	// pgtaskd itself returns a task to PLAN.
	servertest.Replicate(t, conn, "INSERT INTO task (id, state, start, pid, input) VALUES (5, 'WORK', now(), 5, '')")
	execute(t, conn, "UPDATE task SET state = 'PLAN', start = CASE WHEN id < 5 THEN start END")
	equal(t, "waiting", value(t, conn, "SELECT count(*) FROM task WHERE state = 'PLAN' AND start IS NULL AND stop IS NULL AND stopping IS NULL"), "5")
	equal(t, "runs", value(t, conn, "SELECT string_agg(concat(id, ' ', jsonb_array_length(runs)), ', ' ORDER BY id) FROM task"), "1 1, 2 20, 3 , 4 , 5 ")
	for id, want := range map[string]string{
		"1": `{"pid": 1, "cause": "stopped", "error": null, "state": "STOP"}`,
		"2": `{"pid": 2, "cause": "stopped", "error": "ERROR:  tried", "state": "STOP"}`,
	} {
		equal(t, "run of task "+id, value(t, conn, "SELECT (runs -> -1) - 'start' - 'stop' FROM task WHERE runs -> -1 ->> 'start' < runs -> -1 ->> 'stop' AND id = "+id), want)
	}
}

// A STOP for a whole group may wait for the end of a run. It must not miss the repetition that this
// end inserts, although its snapshot is older.
func TestStopOfAGroupLeavesNoHole(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn, finisher := connect(t, dsn), connect(t, dsn)
	install(t, conn, task, nil)
	servertest.Replicate(t, conn, "INSERT INTO task (id, state, input) VALUES (1, 'WORK', '')")
	execute(t, finisher, "BEGIN; INSERT INTO task (id, input, parent) VALUES (2, '', 1); UPDATE task SET state = 'DONE', next = 2 WHERE id = 1")
	stopped := make(chan error)
	go func() {
		_, err := conn.Exec(t.Context(), `UPDATE task SET state = 'STOP' WHERE "group" = 'group'`)
		stopped <- err
	}()
	waiting(t, finisher, conn)
	execute(t, finisher, "COMMIT")
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	equal(t, "states", allStates(t, conn), "DONE STOP")
}

// waiting returns as soon as the other connection waits for a lock.
func waiting(t *testing.T, conn, other *pgx.Conn) {
	t.Helper()
	pid := int32(other.PgConn().PID())
	servertest.Wait(t, time.Minute, "a wait for a lock", func() bool {
		return servertest.Get(t, conn, "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted)", pid) == "true"
	})
}

func allStates(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	return value(t, conn, "SELECT string_agg(state::text, ' ' ORDER BY id) FROM task")
}

// TestOnlyAControlSessionSaysThatATaskRuns: a user's UPDATE to WORK or TAKE is refused, and no run
// is recorded.
func TestOnlyAControlSessionSaysThatATaskRuns(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	for _, old := range []string{"PLAN", "STOP", "DONE", "FAIL", "GONE"} {
		for _, state := range []string{"TAKE", "WORK"} {
			execute(t, conn, "TRUNCATE task; INSERT INTO task (id, state, input) VALUES (1, '"+old+"', '')")
			refused(t, conn, "UPDATE task SET state = '"+state+"'", "23514")
			refused(t, conn, "UPDATE task SET state = '"+state+"', pid = pg_backend_pid()", "23514")
		}
		execute(t, conn, "SET application_name = 'pgtaskd public task'; UPDATE task SET state = 'WORK'; RESET application_name")
	}
	// pgtaskd writes these ends; so may a person who knows how a task has ended.
	for _, state := range []string{"DONE", "FAIL", "GONE"} {
		servertest.Replicate(t, conn, "TRUNCATE task; INSERT INTO task (id, state, input) VALUES (1, 'PLAN', ''), (2, 'WORK', '')")
		execute(t, conn, "UPDATE task SET state = '"+state+"'")
	}
}

// TestAnEndedTaskThatIsSetToPlanIsAsNew: it has all its retries, and its plan is now unless
// somebody sets another.
func TestAnEndedTaskThatIsSetToPlanIsAsNew(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	const ended = "TRUNCATE task; INSERT INTO task (id, state, plan, base, start, stop, attempt, interrupted, retry, input) VALUES " +
		"(1, 'FAIL', '2020-01-01', '2020-01-01', '2020-01-01', '2020-01-01', 4, 2, 1, '')"
	execute(t, conn, ended+"; UPDATE task SET state = 'PLAN'")
	equal(t, "as new", value(t, conn, "SELECT concat_ws(' ', state, attempt, interrupted, base, start, stop, plan > now() - interval '1 min', jsonb_array_length(runs)) FROM task"), "PLAN 0 0 t 1")
	execute(t, conn, ended+"; UPDATE task SET state = 'PLAN', plan = '2030-01-01'")
	equal(t, "planned", value(t, conn, "SELECT plan = '2030-01-01' FROM task"), "true")
	execute(t, conn, "TRUNCATE task; INSERT INTO task (id, state, plan, attempt, input) VALUES (1, 'STOP', '2030-01-01', 1, ''); UPDATE task SET state = 'PLAN'")
	equal(t, "resumed", value(t, conn, "SELECT concat_ws(' ', attempt, plan = '2030-01-01', runs) FROM task"), "1 t")
}

// TestStopOfTasksWhoseNextLeadsInACircleComesToAnEnd, whatever next says.
func TestStopOfTasksWhoseNextLeadsInACircleComesToAnEnd(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	for _, rows := range []string{
		"(1, 'DONE', 2, 'infinity'), (2, 'DONE', 1, 'infinity')",
		"(1, 'DONE', 1, 'infinity')",
		"(1, 'DONE', 2, 'infinity'), (2, 'DONE', 1, 'infinity'), (3, 'GONE', 3, 'infinity')",
		"(1, 'DONE', 2, '2020-01-01'), (2, 'FAIL', 3, 'infinity'), (3, 'GONE', 1, 'infinity')",
	} {
		execute(t, conn, "SET statement_timeout = '5s'; TRUNCATE task; INSERT INTO task (id, state, next, stop, input) SELECT id, state::state, next, stop::timestamptz, '' FROM (VALUES "+rows+") AS v (id, state, next, stop)")
		execute(t, conn, "UPDATE task SET state = 'STOP' WHERE id = 1")
		execute(t, conn, "UPDATE task SET state = 'STOP'")
	}
}

// TestStopReadsWhatItStops, not the whole table, even if the server believes that it is empty.
func TestStopReadsWhatItStops(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	execute(t, conn, `ALTER TABLE task SET (autovacuum_enabled = false); ANALYZE task;
		INSERT INTO task (id, next, state, start, stop, input) SELECT k, k + 1, 'DONE', now(), now() + interval '1 h', '' FROM generate_series(1, 20000) AS k;
		INSERT INTO task (id, input) VALUES (20001, ''), (20002, '')`)
	for _, from := range []string{"19000", "20001"} {
		execute(t, conn, "BEGIN; SET LOCAL enable_seqscan = off; UPDATE task SET state = 'STOP' WHERE id = "+from)
		equal(t, "rows read one after the other from "+from, value(t, conn, "SELECT seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'task'"), "0")
		equal(t, "stopped", value(t, conn, "SELECT state FROM task WHERE id = 20001"), "STOP")
		execute(t, conn, "COMMIT")
	}
}

// TestAnApplicationsFunctionStopsNoMoreThanItSays: the caller of a function that may stop tasks can
// set any setting before; still no other task is stopped.
func TestAnApplicationsFunctionStopsNoMoreThanItSays(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	alice := stranger(t, conn, "alice")
	execute(t, conn, `CREATE FUNCTION cancel_mine(i bigint) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$UPDATE public.task SET state = 'STOP' WHERE id = i AND "group" = 'alice'$$;
		INSERT INTO task (id, input, plan) VALUES (1, '1', 'infinity'), (3, '1', 'infinity'); INSERT INTO task (id, "group", input, state, next, start, stop) VALUES (2, 'alice', '1', 'DONE', 3, now(), now())`)
	execute(t, conn, "SELECT set_config('pgtaskd.stop_' || 'task'::regclass::oid, '1', false); SET SESSION AUTHORIZATION "+alice+"; SELECT public.cancel_mine(2); SELECT public.cancel_mine(2); RESET SESSION AUTHORIZATION")
	equal(t, "states", allStates(t, conn), "PLAN DONE STOP")
}
