package work

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/work/pool"
	"pgtaskd/work/run"
)

// crowded is a stage with more short tasks than the loop writes the ends of by itself. At the end
// of those of which the data say so whoever writes it, but for the leader, waits for a lock that
// the test holds until release.
func crowded(t *testing.T, tasks int) (s *stage, release func()) {
	t.Helper()
	s = play(t, func(t *Target) { t.Run = 4 })
	s.exec(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
			IF NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) THEN -- the leader has one
				PERFORM pg_advisory_xact_lock_shared(7);
			END IF;
			RETURN NEW;
		END$$;
		CREATE TRIGGER hold BEFORE UPDATE ON task FOR EACH ROW WHEN (NEW.state = 'DONE' AND NEW.data = 'hold') EXECUTE FUNCTION hold()`)
	holder := s.connect()
	tell := func(sql string) {
		if _, err := holder.Exec(context.WithoutCancel(t.Context()), sql); err != nil {
			t.Fatal(err)
		}
	}
	tell("SELECT pg_advisory_lock(7)")
	s.exec(`INSERT INTO task (input, "group", data) SELECT 'SELECT ' || i, i % 300, CASE WHEN i > $1 / 2 AND i % 100 = 0 THEN 'hold' END FROM generate_series(1, $1) AS i`, tasks)
	return s, func() { tell("SELECT pg_advisory_unlock(7)") }
}

const controls = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pgtaskd %'"

// leader is the process id of the backend that holds the leader's lock.
const leader = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid() AND (classid, objid, objsubid) IS DISTINCT FROM (0, 7, 1) " +
	"AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid IN (SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'pgtaskd %')"

// TestCompleter: where many end at once a second connection writes their ends; it goes when it has
// nothing to do.
func TestCompleter(t *testing.T) {
	t.Parallel()
	s, release := crowded(t, 3000)
	s.eventually("2", controls)
	s.eventually("true", "SELECT count(*) > 0 FROM task WHERE state = 'DONE'")
	release()
	s.eventually("3000", "SELECT count(*) FROM task WHERE state = 'DONE' AND output = id::text AND attempt = 1 AND start <= stop AND pid IS NOT NULL AND atomic")
	s.eventually("1", controls)
	if s.leads() != 1 {
		t.Error(s.leads(), "leaderships")
	}
}

// TestCompleterCut: whatever happens to the completer, to the leader or to rows while it writes,
// each task ends once, as it has run.
func TestCompleterCut(t *testing.T) {
	t.Parallel()
	const holds = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
	for name, sql := range someOf(map[string]string{
		"terminated": "SELECT pg_terminate_backend(pid) FROM (" + holds + ") AS completer",
		"cancelled":  "SELECT pg_cancel_backend(pid) FROM (" + holds + ") AS completer",
		"leader":     "SELECT pg_terminate_backend(pid) FROM (" + leader + ") AS leader",
		"both":       "SELECT pg_terminate_backend(pid) FROM (" + holds + " UNION " + leader + ") AS either",
		"timeout":    "SELECT pg_sleep(2.5)", // longer than it waits for a lock
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, release := crowded(t, 3000)
			s.eventually("true", "SELECT EXISTS ("+holds+")")
			s.exec(sql)
			release()
			s.eventually("3000", "SELECT count(*) FROM task WHERE state = 'DONE' AND output = id::text AND attempt = 1 AND interrupted = 0 AND start <= stop")
		})
	}
}

// TestCompleterPassesOver: ends whose rows are locked when the completer writes them are seen to by
// the loop.
func TestCompleterPassesOver(t *testing.T) {
	t.Parallel()
	s, release := crowded(t, 3000)
	s.eventually("true", "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))")
	tx, err := s.connect().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if tag, err := tx.Exec(t.Context(), "SELECT FROM task WHERE state = 'PLAN' ORDER BY id LIMIT 3 FOR UPDATE SKIP LOCKED"); err != nil || tag.RowsAffected() != 3 {
		t.Fatal(tag, err)
	}
	release()
	s.eventually("2997", "SELECT count(*) FROM task WHERE state = 'DONE'")
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.eventually("3000", "SELECT count(*) FROM task WHERE state = 'DONE' AND output = id::text AND attempt = 1")
}

// TestCompleterInAShortage: where sessions are short it leaves its own to the tasks, for longer
// than a shortage shows.
func TestCompleterInAShortage(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 })
	l := s.installed()
	ends := make([]end, completerFrom)
	for i := range ends {
		ends[i].task = &task{Task: &run.Task{Row: run.Row{ID: int64(i)}}}
	}
	l.unsaid = slices.Clone(ends)
	l.Pool = pool.New(pool.Config{
		Group: l.crew, Purses: &l.purses, Own: func(context.Context, pool.Need) (*pgconn.Config, error) { return pgconn.ParseConfig("host=/nowhere") },
		Failed: func(err error) *zerolog.Event { return zerologNone.Err(err) },
	})
	if _, err := l.Pool.Open(t.Context(), pool.Need{}, 1); err == nil {
		t.Fatal("a session was opened")
	}
	if l.dictate(ends) || len(l.unsaid) != len(ends) {
		t.Error("it was given ends, with ", len(l.unsaid), " left")
	}
	l.Pool = pool.New(pool.Config{})
	if l.dictate(ends) {
		t.Error("it was given ends when the shortage had just been over")
	}
	if l.completer.failed = time.Now().Add(-completerShort); !l.dictate(ends) || len(l.unsaid) != 0 {
		t.Error("it was given none long after, with ", len(l.unsaid), " left")
	}
	l.dismissCompleter()
}

// TestSetToPlanMeanwhile: a task whose end the completer has written, and that somebody has set to
// PLAN before the loop has heard of it, is looked for again.
func TestSetToPlanMeanwhile(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 })
	l := s.installed()
	id := s.add("input", "SELECT 1")
	look := func() {
		t.Helper()
		if err := l.scan(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		if err := l.prefetch(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	l.Lanes.Pace(1)
	look()
	first := l.tasks[id]
	if first == nil {
		t.Fatal("it was not read")
	}
	s.exec("UPDATE task SET state = 'DONE', start = now(), stop = now() WHERE id = $1", id)
	s.exec("UPDATE task SET state = 'PLAN' WHERE id = $1", id)
	look()
	l.Lanes.Forget()
	l.gone(endOf(run.Outcome{Task: first.Task}, first))
	look()
	if again := l.tasks[id]; again == nil || again == first || again.Row.Attempt != 1 {
		t.Error("it was not read again")
	}
}
