package work

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
)

// deaf makes waking the only way to find a task within a test's patience.
func deaf(t *Target) { t.Sleep, t.Reset = time.Hour, time.Hour }

// waking describes how the stage's table wakes its leader.
func (s *stage) waking() schema.Waking {
	s.t.Helper()
	d, err := schema.Describe(s.t.Context(), s.conn, s.target.Relation())
	if err != nil {
		s.t.Fatal(err)
	}
	return d.Waking
}

// sleepers counts the sessions that hold the lock of a sleeping leader.
func (s *stage) sleepers() string { return s.sleepersOn(s.waking().Lock) }

func (s *stage) sleepersOn(lock int64) string {
	s.t.Helper()
	return s.get("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted "+
		"AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND (classid::int8 << 32) + objid::int8 = $1", lock)
}

// asleep waits until the leader sleeps.
func (s *stage) asleep() {
	s.t.Helper()
	s.until("asleep", func() bool { return s.sleepers() == "1" })
}

// manyTasks is more tasks than can come at once while the leader goes on sleeping.
const manyTasks = 40

// awake inserts tasks until the leader stays awake.
func (s *stage) awake() {
	s.t.Helper()
	// Find the lock first: this takes so long that the leader would fall asleep again.
	lock := s.waking().Lock
	s.until("awake", func() bool {
		for range manyTasks {
			s.exec("INSERT INTO task (input, max) VALUES ('', 9)")
		}
		return s.sleepersOn(lock) == "0"
	})
}

// soon waits until all tasks have ended, and returns how long that took.
func (s *stage) soon() time.Duration {
	s.t.Helper()
	began := time.Now()
	s.eventually("0", "SELECT count(*) FROM task WHERE state IN ('PLAN', 'TAKE', 'WORK') AND plan < now()")
	return time.Since(began)
}

// TestASleepingLeaderIsWoken: also for a task that is planned before the one it waits for.
func TestASleepingLeaderIsWoken(t *testing.T) {
	t.Parallel()
	s := play(t, deaf)
	s.asleep()
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	s.add("input, plan", "SELECT 1", time.Now().Add(time.Hour))
	s.asleep()
	sooner := s.add("input, plan", "SELECT 1", time.Now().Add(time.Second))
	s.becomes(sooner, "DONE")
	if late := s.get("SELECT start - plan < '1 s' FROM task WHERE id = $1", sooner); late != "true" {
		t.Error("it started ", s.row(sooner, "plan, start"))
	}
}

// TestAnAwakeLeaderLooks: it finds tasks that are inserted without NOTIFY, however long they take
// to be committed. It sleeps only when they are committed.
func TestAnAwakeLeaderLooks(t *testing.T) {
	t.Parallel()
	s := play(t, deaf)
	s.asleep()
	other := s.connect()
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.until("spared", func() bool { // the leader may have fallen asleep again
		s.awake()
		if _, err := tx.Exec(t.Context(), "INSERT INTO task (input) VALUES ('SELECT 1')"); err != nil {
			t.Fatal(err)
		}
		return s.get("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND pid = $1", other.PgConn().PID()) != "0"
	})
	s.soon()
	s.exec("SELECT pg_sleep(1)") // long enough to fall asleep
	if s.sleepers() != "0" {
		t.Fatal("the leader sleeps although a task may come that it is not told of")
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := s.soon(); took > servertest.Limit(2*time.Second) {
		t.Errorf("found after %s", took)
	}
	s.asleep()
}

// TestNoTaskIsOverlooked: many sessions insert while the leader falls asleep and wakes.
func TestNoTaskIsOverlooked(t *testing.T) {
	t.Parallel()
	s := play(t, deaf)
	var inserters sync.WaitGroup
	end := time.Now().Add(3 * time.Second)
	for i := range 8 {
		conn := s.connect()
		inserters.Go(func() {
			for random := rand.New(rand.NewPCG(1, uint64(i))); time.Now().Before(end); {
				if err := insertSomehow(s, conn, random); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	inserters.Wait()
	took := s.soon()
	t.Logf("%s tasks, the last ended %s after all were there", s.get("SELECT count(*) FROM task"), took)
	if took > servertest.Limit(10*time.Second) { // an overlooked task is found after half a minute
		t.Error("a task was overlooked")
	}
}

// insertSomehow inserts one or some tasks, at once or in a slow transaction, or rests.
func insertSomehow(s *stage, conn *pgx.Conn, random *rand.Rand) error {
	const one = "INSERT INTO task (input, max, active) VALUES ('SELECT 1', 100, '0')"
	var statements []string
	pause := fmt.Sprintf("SELECT pg_sleep(%d * 0.001)", random.IntN(60))
	switch random.IntN(8) {
	case 0:
		statements = []string{"BEGIN", one, pause, "COMMIT"}
	case 1:
		statements = []string{"BEGIN", "SAVEPOINT a", one, "ROLLBACK TO a", one, pause, "COMMIT"}
	case 2:
		statements = []string{"BEGIN", one, pause, "ROLLBACK"}
	case 3:
		statements = []string{"BEGIN", one, "SELECT pg_sleep(0.4)", "COMMIT"}
	case 4:
		statements = []string{"SELECT pg_sleep(0.2)"}
	default:
		statements = slicesOf(one, 1+random.IntN(20))
	}
	for _, statement := range statements {
		if _, err := conn.Exec(s.t.Context(), statement); err != nil {
			return err
		}
	}
	return nil
}

func slicesOf(s string, n int) []string { return strings.Split(strings.Repeat(s+"\n", n-1)+s, "\n") }

// TestTheSleepersLockFallsWithIt: the next leader takes it.
func TestTheSleepersLockFallsWithIt(t *testing.T) {
	t.Parallel()
	s := play(t, deaf)
	s.asleep()
	for leads := 2; leads < 4; leads++ {
		s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pgtaskd %'")
		s.add("input", "SELECT 1") // nobody is there to be woken
		s.until("leading again", func() bool { return s.leads() >= leads })
		s.soon()
		s.asleep()
		s.becomes(s.add("input", "SELECT 1"), "DONE")
	}
}

// TestATableThatIsMadeAgainIsServed: it has another lock of sleep, and at first no triggers.
func TestATableThatIsMadeAgainIsServed(t *testing.T) {
	t.Parallel()
	for _, wake := range []sql.Wake{sql.Auto, sql.WAL} {
		t.Run(string(wake), func(t *testing.T) {
			t.Parallel()
			s := play(t, deaf, func(t *Target) { t.Wake = wake })
			s.becomes(s.add("input", "SELECT 1"), "DONE")
			s.exec("BEGIN; DROP TABLE task; CREATE TABLE task (id bigserial PRIMARY KEY, input text NOT NULL); COMMIT")
			s.eventually("1", "SELECT count(*) FROM pg_attribute WHERE attrelid = 'task'::regclass AND attname = 'due'")
			s.becomes(s.add("input", "SELECT 1"), "DONE")
		})
	}
}

// TestWithoutTriggers: the leader polls, and logs that if NOTIFY was asked for.
func TestWithoutTriggers(t *testing.T) {
	t.Parallel()
	for _, wake := range []sql.Wake{sql.Poll, sql.Auto, sql.Notify} {
		t.Run(string(wake), func(t *testing.T) {
			t.Parallel()
			s := furnished(t, func(t *Target) { t.Wake = wake })
			s.exec("DROP TRIGGER pgtaskd_update ON task")
			s.target.Create = false
			s.serve()
			s.settled()
			s.becomes(s.add("input", "SELECT 1"), "DONE")
			if said := strings.Contains(s.logged(), "GRANT TRIGGER"); said != (wake == sql.Notify) {
				t.Errorf("said of the triggers: %s", strconv.FormatBool(said))
			}
		})
	}
}
