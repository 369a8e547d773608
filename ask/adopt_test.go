package ask

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	postgres "pgtaskd/server"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql/schema"
	"pgtaskd/work"
	"pgtaskd/work/target"
)

// leads serves the target until the table says where it was led.
func leads(t *testing.T, served work.Target, tasks tasktest.Table) {
	t.Helper()
	stop := serve(t, served)
	defer stop()
	servertest.Wait(t, patient, "a leader's row", func() bool {
		return tasks.Get("SELECT count(*) FROM task_leader WHERE place IS NOT NULL") == "1"
	})
}

// drop runs a statement in a database when the test is over.
func drop(t *testing.T, statement, database string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), servertest.Server(t).DSN(database))
	if err == nil {
		_, err = conn.Exec(context.Background(), statement)
		_ = conn.Close(context.Background())
	}
	if err != nil {
		t.Error(err)
	}
}

// copied returns a target that was led, and whose database was then copied with the tasks that the
// statements insert.
func copied(t *testing.T, statements string) (work.Target, tasktest.Table) {
	t.Helper()
	source, tasks := made(t)
	leads(t, source, tasks)
	put(t, tasks.Conn, statements)
	if err := tasks.Conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	from, to := source.Connect["dbname"], source.Connect["dbname"]+"_copy"
	admin := servertest.Connect(t, servertest.Server(t).DSN("postgres"))
	// A drained controller's sessions may take a moment to end.
	servertest.Wait(t, patient, "the copy", func() bool {
		_, err := admin.Exec(t.Context(), "CREATE DATABASE "+to+" TEMPLATE "+from+servertest.Strategy(admin))
		return err == nil
	})
	t.Cleanup(func() { drop(t, "DROP DATABASE "+to, "postgres") })
	dsn := servertest.Server(t).DSN(to)
	conn := servertest.Connect(t, dsn)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return single(t, dsn), tasktest.Public(t, conn)
}

// serveAlone serves a target until the test ends, with its Stats.
func serveAlone(t *testing.T, served work.Target) {
	t.Helper()
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- work.Serve(context.WithoutCancel(t.Context()), stop, served, zerolog.Nop()) }()
	t.Cleanup(func() {
		close(stop)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// waiting are tasks that wait, that are paused, and that ran when the table was copied.
const waiting = `INSERT INTO task (id, input, state, plan, start, pid, xact, xact_at, rerun, key) VALUES
	(1, 'SELECT 1', 'PLAN', now(), NULL, NULL, NULL, NULL, true, 'k'),
	(2, 'SELECT 2', 'PLAN', now() + interval '1 day', NULL, NULL, NULL, NULL, true, NULL),
	(3, 'SELECT 3', 'STOP', now(), NULL, NULL, NULL, NULL, true, NULL),
	(4, 'SELECT 4', 'WORK', now(), 'infinity', pg_backend_pid(), NULL, NULL, true, NULL),
	(5, 'SELECT 5', 'WORK', now(), now(), pg_backend_pid(), NULL, NULL, false, NULL),
	(6, 'SELECT 6', 'WORK', now(), now(), pg_backend_pid(), 1, '1/1', true, NULL),
	(7, 'SELECT 7', 'DONE', now(), now(), NULL, NULL, NULL, true, NULL);
	UPDATE task SET stop = now() WHERE id = 7`

// TestACopyIsServedOnceItIsAdopted: check and status refuse it before, and a controller that runs
// goes on with it at once. What was at work is not judged by the process ids of another server.
func TestACopyIsServedOnceItIsAdopted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paused, gone bool
		says, want   string
	}{
		"all":         {says: "is adopted; cut off while at work: 2", want: "1 DONE, 2 PLAN, 3 STOP open, 4 DONE, 5 FAIL 08006, 6 FAIL TK003, 7 DONE"},
		"keep-paused": {paused: true, says: "is adopted; paused: 4", want: "1 STOP open, 2 STOP open, 3 STOP open, 4 STOP 57014, 5 STOP 57014, 6 FAIL TK003, 7 DONE"},
		"gone":        {gone: true, says: "is adopted; given up: 4", want: "1 GONE, 2 GONE, 3 STOP open, 4 GONE, 5 GONE, 6 FAIL TK003, 7 DONE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clone, tasks := copied(t, waiting)
			put(t, tasks.Conn, "UPDATE task SET pid = pg_backend_pid() WHERE state = 'WORK'")
			const line = " is a copy, and not served: it comes from database "
			if r := work.Check(t.Context(), clone); len(r.Faults) != 1 || !strings.Contains(r.Faults[0], line) ||
				!strings.Contains(r.Faults[0], "2 tasks wait, 3 at work when it was copied: pgtaskd adopt [--all | --keep-paused | --gone] ") ||
				!strings.HasSuffix(r.Faults[0], `or DROP TABLE "public"."task"`) || strings.Contains(r.Faults[0], "\n") {
				t.Error(r.Faults, r.Lines)
			}
			all, err := status(t, clone)
			if !errors.Is(err, ErrFailed) || !strings.Contains(all[0].Copy, line) {
				t.Error(all, err)
			}
			clone.Stats = target.NewStats()
			serveAlone(t, clone)
			servertest.Wait(t, patient, "the refusal", func() bool { return clone.Stats.Standing().Copy })
			if states := tasks.Get("SELECT string_agg(state::text, ' ' ORDER BY id) FROM task"); states != "PLAN PLAN STOP WORK WORK WORK DONE" {
				t.Error(states)
			}
			s := people()
			if err := Adopt(t.Context(), s.Screen, []work.Target{clone}, c.paused, c.gone); err != nil || !strings.Contains(s.text(), clone.Name()+": "+c.says+"\n") {
				t.Error(err, s.text())
			}
			var got string
			servertest.Wait(t, patient, c.want, func() bool {
				got = tasks.Get(`SELECT string_agg(concat_ws(' ', id, state, CASE WHEN state = 'STOP' AND stop IS NULL THEN 'open' END, sqlstate), ', ' ORDER BY id) FROM task`)
				return got == c.want
			}, func() string { return got })
			if standing := clone.Stats.Standing(); !standing.Leads || standing.Copy {
				t.Errorf("%+v", standing)
			}
			s = program()
			if err := Adopt(t.Context(), s.Screen, []work.Target{clone}, false, false); err != nil {
				t.Error(err)
			}
			var again Adopted
			if err := json.Unmarshal(s.objects.Bytes(), &again); err != nil || again.Copy || !again.Done || again.Text != "is no copy" {
				t.Errorf("%+v, %s", again, s.text())
			}
		})
	}
}

// TestWhatIsNoCopy: a table that was made again, or of which nobody has written where it was led.
func TestWhatIsNoCopy(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string]string{
		"truncated":            "TRUNCATE task_leader",
		"an earlier version":   "ALTER TABLE task_leader DROP place",
		"nobody may read it":   "REVOKE ALL ON task_leader FROM PUBLIC",
		"no table":             "DROP TABLE task_leader",
		"something else there": "DROP TABLE task_leader; CREATE VIEW task_leader AS SELECT 1",
		"made again":           "DROP TABLE task CASCADE",
		"a row without place":  "INSERT INTO task_leader (controller, leads, since, seen) VALUES ('x', true, now(), now())",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			served, tasks := made(t)
			leads(t, served, tasks)
			tasks.Exec(statements)
			if r := work.Check(t.Context(), served); len(r.Faults) > 0 {
				t.Error(r.Faults)
			}
			serve(t, served)
			servertest.Wait(t, patient, "a leader", func() bool {
				return tasks.Get("SELECT count(*) FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid) WHERE l.locktype = 'advisory' AND a.datname = current_database()") != "0"
			})
		})
	}
}

// TestATableOfASubscriberIsACopy until somebody adopts it, which is the last step of a switch-over.
func TestATableOfASubscriberIsACopy(t *testing.T) {
	t.Parallel()
	served, tasks := made(t)
	tasks.Exec("CREATE SUBSCRIPTION s_" + served.Connect["dbname"] + " CONNECTION 'dbname=nowhere' PUBLICATION p WITH (connect = false)")
	t.Cleanup(func() { drop(t, "DROP SUBSCRIPTION s_"+served.Connect["dbname"], served.Connect["dbname"]) })
	tasks.Exec("ALTER SUBSCRIPTION s_" + served.Connect["dbname"] + " SET (slot_name = NONE)")
	tasks.Exec("INSERT INTO pg_subscription_rel (srsubid, srrelid, srsubstate, srsublsn) SELECT oid, 'task'::regclass, 'r', '0/0' FROM pg_subscription WHERE subname = 's_" + served.Connect["dbname"] + "'")
	if r := work.Check(t.Context(), served); len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "a subscription writes it here, and nobody has led it") {
		t.Error(r.Faults)
	}
	if err := Adopt(t.Context(), people().Screen, []work.Target{served}, false, false); err != nil {
		t.Error(err)
	}
	if r := work.Check(t.Context(), served); len(r.Faults) > 0 {
		t.Error(r.Faults)
	}
}

// TestAPlaceThatCameAlong makes a copy, too: of a restore of data alone, or a subscription.
func TestAPlaceThatCameAlong(t *testing.T) {
	t.Parallel()
	served, tasks := made(t)
	leads(t, served, tasks)
	tasks.Exec(`INSERT INTO task_leader (controller, leads, since, seen, place) SELECT 'x', true, now(), '2000-01-01', jsonb_set(place, '{database}', '1') FROM task_leader`)
	if r := work.Check(t.Context(), served); len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "where it was last led at 2000-01-01 00:00:00+00; here is another database (its oid is ") {
		t.Error(r.Faults)
	}
}

// TestARoleThatMaySeeLess is told so, and recognises copies in the same server.
func TestARoleThatMaySeeLess(t *testing.T) {
	t.Parallel()
	served, tasks := made(t)
	role := "less_" + served.Connect["dbname"]
	tasks.Exec("CREATE ROLE " + role + " LOGIN; REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC; ALTER TABLE task OWNER TO " + role + "; ALTER TABLE task_leader OWNER TO " + role)
	t.Cleanup(func() { drop(t, "DROP OWNED BY "+role+"; DROP ROLE "+role, served.Connect["dbname"]) })
	served.Connect = served.Connect.With(map[string]string{"user": role})
	served.Trust = []string{"PUBLIC"}
	leads(t, served, tasks)
	if got := tasks.Get("SELECT concat(place ? 'system', place ? 'directory', place ? 'database') FROM task_leader WHERE place IS NOT NULL"); got != "fft" {
		t.Error(got)
	}
	r := work.Check(t.Context(), served)
	if doubts := strings.Join(r.Doubts, "\n"); !strings.Contains(doubts, "GRANT EXECUTE ON FUNCTION pg_control_system() TO "+role) || len(r.Faults) > 0 {
		t.Error(doubts, r.Faults)
	}
	tasks.Exec(`UPDATE task_leader SET place = jsonb_set(place, '{database}', '1') WHERE place IS NOT NULL`)
	if r := work.Check(t.Context(), served); len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "another database") {
		t.Error(r.Faults)
	}
}

// TestAPromotedStandbyIsNoCopy, while the primary that it has replaced is stale, and a clone is a
// copy.
func TestAPromotedStandbyIsNoCopy(t *testing.T) {
	t.Parallel()
	primary := servertest.New(t, postgres.Options{})
	tasks := tasktest.Make(t, servertest.Connect(t, primary.DSN("postgres")), schema.Options{})
	standby := servertest.Standby(t, primary)
	both := single(t, primary.DSN("postgres"))
	other := single(t, standby.DSN("postgres"))
	both.Connect = both.Connect.With(map[string]string{
		"host": other.Connect["host"] + "," + both.Connect["host"], "port": other.Connect["port"] + "," + both.Connect["port"], "target_session_attrs": "read-write",
	})
	leads(t, both, tasks)
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := work.Check(t.Context(), both); len(r.Faults) > 0 {
		t.Error(r.Faults)
	}
	stale := both
	stale.Connect = both.Connect.With(map[string]string{
		"host": both.Connect["host"], "port": both.Connect["port"],
	})
	for _, key := range []string{"host", "port"} {
		first, second, _ := strings.Cut(both.Connect[key], ",")
		stale.Connect[key] = second + "," + first
	}
	if r := work.Check(t.Context(), stale); len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "the server is stale: it is on timeline 1, and its successor on timeline 2") {
		t.Error(r.Faults)
	}
	s := people()
	if err := Adopt(t.Context(), s.Screen, []work.Target{stale}, false, false); err == nil || !strings.Contains(s.text(), "the server is stale") {
		t.Error(s.text())
	}
	// Without the others, its clone is known by its directory.
	primaryAlone := single(t, primary.DSN("postgres"))
	tasks.Exec(`UPDATE task_leader SET place = jsonb_set(place, '{directory}', '"/elsewhere"') WHERE place IS NOT NULL`)
	if r := work.Check(t.Context(), primaryAlone); len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "a clone of the server") {
		t.Error(r.Faults)
	}
}
