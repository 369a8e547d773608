package wake

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/routine"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control/controltest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// table describes a table that can wake by NOTIFY. lock is the number of its lock of sleep.
func table(lock int64) schema.Waking {
	return schema.Waking{Lock: lock, Channel: "inserts", Inserts: true, Changes: true}
}

// notified returns a Waker whose way is NOTIFY, on a control connection.
func notified(t *testing.T, dsn string, lock int64) *Waker {
	t.Helper()
	group := routine.New(t.Context())
	t.Cleanup(func() {
		group.End()
		group.Wait()
	})
	c, served := controltest.Open(t, dsn)
	w := New(Config{Target: served, Control: c, Notices: &Notices{}, Group: group, Log: zerolog.Nop(), Poke: func() {}})
	adopt(t, w, sql.Notify, lock)
	return w
}

func adopt(t *testing.T, w *Waker, way sql.Wake, lock int64) {
	t.Helper()
	if err := w.Adopt(t.Context(), way, table(lock)); err != nil {
		t.Fatal(err)
	}
}

// fall calls FallAsleep.
func fall(t *testing.T, w *Waker) (fell bool) {
	t.Helper()
	fell, err := w.FallAsleep(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return fell
}

// locks counts the locks of sleep that the control session holds.
func locks(t *testing.T, w *Waker) (n int) {
	t.Helper()
	const query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND pid = pg_backend_pid()"
	if err := w.Control.Conn().QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestATermOnTheSameConnectionTakesTheLockOfSleepOnce: a lock taken twice must be released twice.
// If it is not, sessions that insert tasks notify a leader that is awake.
func TestATermOnTheSameConnectionTakesTheLockOfSleepOnce(t *testing.T) {
	t.Parallel()
	w := notified(t, tasktest.Database(t), 1)
	w.Start()
	if !fall(t, w) || locks(t, w) != 1 {
		t.Fatal("it does not sleep")
	}
	w.Stop()
	adopt(t, w, sql.Notify, 1)
	w.Start()
	for range 2 { // at least one call falls asleep
		fall(t, w)
		w.sleep.tried = time.Time{}
	}
	for range crowd {
		w.Notices.Take(&pgconn.Notification{PID: 1}, "", 2)
	}
	if fall(t, w); !w.Awake() || locks(t, w) != 0 {
		t.Errorf("awake: %t, with %d locks", w.Awake(), locks(t, w))
	}
}

// TestTheLockOfSleepFollowsTheTable: the leader releases the lock when the table gets another lock,
// or another way of waking, or when the connection changes.
func TestTheLockOfSleepFollowsTheTable(t *testing.T) {
	t.Parallel()
	w := notified(t, tasktest.Database(t), 1)
	for _, change := range []func(){
		func() { adopt(t, w, sql.Notify, 2) },
		func() { adopt(t, w, sql.Poll, 2) },
		func() {
			w.Control.Close()
			if err := w.Control.Open(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			adopt(t, w, sql.Notify, 2)
		},
	} {
		adopt(t, w, sql.Notify, w.source.waking.Lock)
		w.sleep.tried = time.Time{}
		if !fall(t, w) || w.Awake() || locks(t, w) != 1 {
			t.Fatal("it does not sleep")
		}
		if change(); locks(t, w) != 0 || w.source.way == sql.Notify && !w.Awake() {
			t.Errorf("awake: %t, with %d locks", w.Awake(), locks(t, w))
		}
	}
}

// TestAFullQueueKeepsTheLeaderAwake: inserts need no NOTIFY then, which would fail.
func TestAFullQueueKeepsTheLeaderAwake(t *testing.T) {
	t.Parallel()
	w := notified(t, tasktest.Database(t), 1)
	w.QueueIs(queueMost)
	if fall(t, w) || !w.Awake() || locks(t, w) != 0 {
		t.Error("it falls asleep")
	}
	w.QueueIs(0)
	if !fall(t, w) || w.Awake() {
		t.Error("it stays awake")
	}
	w.QueueIs(queueMost)
	if fall(t, w) || !w.Awake() || locks(t, w) != 0 {
		t.Error("it sleeps on")
	}
}

// TestAFloodOfNotificationsIsNotUrgent: in a flood, the leader looks only as often as an awake one.
func TestAFloodOfNotificationsIsNotUrgent(t *testing.T) {
	t.Parallel()
	w := notified(t, tasktest.Database(t), 1)
	w.Notices.Take(&pgconn.Notification{PID: 1}, "", 2)
	if come, urgent := w.Noticed(); !come || !urgent || w.Pause() != askedTick {
		t.Error("one notification is not urgent, but waits for", w.Pause())
	}
	for range crowd {
		w.Notices.Take(&pgconn.Notification{PID: 1}, "", 2)
	}
	if come, urgent := w.Noticed(); !come || urgent || w.Pause() != boredTick {
		t.Error("a flood is urgent, or waits for", w.Pause())
	}
	now := time.Now().Add(time.Hour) // the last look is recent, so an awake leader need not look
	if !w.News(now) || w.News(now) {
		t.Error("a notification is not noticed once")
	}
}

// TestWaitEnds at a notification, at a cancel, and with an error if the connection is lost.
func TestWaitEnds(t *testing.T) {
	t.Parallel()
	dsn := tasktest.Database(t)
	other, w := servertest.Connect(t, dsn), notified(t, dsn, 1)
	for what, c := range map[string]struct {
		end  func(cancel func()) error
		lost bool
	}{
		"notified":  {end: func(func()) error { _, err := other.Exec(t.Context(), "NOTIFY inserts"); return err }},
		"cancelled": {end: func(cancel func()) error { cancel(); return nil }},
	} {
		heard, cancel := w.Wait(t.Context(), time.Hour)
		if err := c.end(cancel); err != nil {
			t.Fatal(what, err)
		}
		if err := <-heard; err != nil {
			t.Error(what, err)
		}
		cancel()
	}
	heard, cancel := w.Wait(t.Context(), time.Hour)
	defer cancel()
	if _, err := other.Exec(t.Context(), "SELECT pg_terminate_backend($1)", w.conn.PgConn().PID()); err != nil {
		t.Fatal(err)
	}
	if err := <-heard; err == nil {
		t.Error("a lost connection is no error")
	}
}

// TestBoredom: a leader that finds no due tasks looks less and less often.
func TestBoredom(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := sleep{found: now.Add(time.Hour)} // in the future, however slow the test is
	if d := s.tick(); d != awakeTick {
		t.Errorf("%v after something was due", d)
	}
	s.found = now.Add(-time.Minute)
	if d := s.tick(); d != boredTick {
		t.Errorf("%v after a minute", d)
	}
}
