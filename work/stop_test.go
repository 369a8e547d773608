package work

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
	"pgtaskd/work/control"
	"pgtaskd/work/run"
	"pgtaskd/work/wake"
)

func TestStop(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int4)")
	id := s.add("input, repeat", "INSERT INTO effect VALUES (1); SELECT pg_sleep(60)", "1 day")
	s.becomes(id, "WORK")
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", id)
	s.eventually("true", "SELECT state = 'STOP' AND stop > start AND error IS NOT NULL AND next IS NULL FROM task WHERE id = $1", id)
	if n := s.get("SELECT count(*) FROM effect"); n != "0" {
		t.Error("effects: ", n)
	}
}

// TestNewTasksAreNoReasonToLookForStops: new tasks are announced on their own channel. A STOP or
// DELETE of a running task comes on the other channel.
func TestNewTasksAreNoReasonToLookForStops(t *testing.T) {
	t.Parallel()
	s := play(t)
	var notices wake.Notices
	changes := sql.Channel(s.target.Relation())
	c := control.New(s.target, func(n *pgconn.Notification, own uint32) { notices.Take(n, changes, own) })
	if err := c.Open(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	listener := c.Conn()
	for _, channel := range []string{changes, s.get("SELECT 'pgtaskd_' || 'task'::regclass::oid")} {
		if _, err := listener.Exec(t.Context(), "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
			t.Fatal(err)
		}
	}
	stopped, deleted := s.add(`input, "group"`, "SELECT pg_sleep(60)", "a"), s.add(`input, "group"`, "SELECT pg_sleep(60)", "b")
	s.becomes(stopped, "WORK")
	s.becomes(deleted, "WORK")
	for _, told := range []struct {
		statement string
		changed   bool
	}{
		{"INSERT INTO task (input, plan) VALUES ('SELECT 1', clock_timestamp() + '1 day')", false},
		{"UPDATE task SET state = 'STOP' WHERE id = " + fmt.Sprint(stopped), true},
		{"DELETE FROM task WHERE id = " + fmt.Sprint(deleted), true},
	} {
		notices.Changed = false
		s.exec(told.statement)
		s.exec("SELECT pg_notify('pgtaskd_' || 'task'::regclass::oid, '')") // as an INSERT does while the leader sleeps
		if err := listener.PgConn().WaitForNotification(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := listener.Ping(t.Context()); err != nil { // after this no other notification is on its way
			t.Fatal(err)
		}
		if notices.Changed != told.changed {
			t.Errorf("%s: told %t", told.statement, notices.Changed)
		}
	}
}

func TestDeleted(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input", "SELECT pg_sleep(60)")
	s.becomes(id, "WORK")
	s.exec("DELETE FROM task WHERE id = $1", id)
	s.quiet()
	s.others()
}

// TestStopBeforeMark: a task that is stopped between its read and its mark has never started.
func TestStopBeforeMark(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 })
	l := s.installed()
	id := s.add("input", "VACUUM task")
	tasks, err := l.leader.prefetch.Read(t.Context(), []int64{id})
	if err != nil || len(tasks) != 1 {
		t.Fatal(err)
	}
	tasks[0].Examine()
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", id)
	answer := make(chan run.Answer, 1)
	l.marks.Ask(tasks[0], run.Marking{PID: 1}, answer)
	if err := l.marks.Step(t.Context()); err != nil || (<-answer).OK {
		t.Error("it may start ", err)
	}
	if row := s.row(id, "state, start, stop, attempt"); row != `{"state":"STOP","start":null,"stop":null,"attempt":0}` {
		t.Error(row)
	}
}

// TestWhatIsDoneBeforeTheCommitHasALimit: SQL can run the work early that is deferred to COMMIT.
func TestWhatIsDoneBeforeTheCommitHasALimit(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`CREATE TABLE late (id int8); CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(100); RETURN NULL; END';
		CREATE CONSTRAINT TRIGGER late AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late()`)
	id := s.add("input, timeout", "INSERT INTO late VALUES (1); SET CONSTRAINTS ALL IMMEDIATE", "1 s")
	s.becomes(id, "FAIL")
	if end := s.row(id, "sqlstate, attempt"); end != `{"sqlstate":"57014","attempt":1}` {
		t.Error(end)
	}
}
