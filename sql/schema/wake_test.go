package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/major"
	"pgtaskd/sql"
)

// TestNewTasksWakeASleepingLeader, unless they are for later. A leader that is awake is not
// notified; it cannot fall asleep before it can see them.
func TestNewTasksWakeASleepingLeader(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	d := described(t, conn, task)
	leader := connect(t, conn.Config().ConnString())
	sleeps := func() string { return value(t, leader, fmt.Sprint("pg_try_advisory_lock(", d.Waking.Lock, ")")) }
	const insert = "INSERT INTO task (input) SELECT 'SELECT 1' FROM generate_series(1, 100)"
	execute(t, conn, "LISTEN nothing_else; LISTEN "+d.Waking.Channel)

	execute(t, conn, insert)
	unnotified(t, conn, "INSERT while the leader is awake")
	execute(t, conn, "BEGIN; SAVEPOINT a; "+insert+"; ROLLBACK TO a; "+insert)
	equal(t, "asleep while a task is not committed", sleeps(), "false")
	execute(t, conn, "COMMIT")
	unnotified(t, conn, "COMMIT while the leader is awake")
	equal(t, "asleep", sleeps(), "true")
	execute(t, conn, insert)
	notified(t, conn, d.Waking.Channel)
	unnotified(t, conn, "INSERT while the leader sleeps")
	execute(t, conn, "INSERT INTO task (input, plan) VALUES ('SELECT 1', now() + interval '3 min')")
	unnotified(t, conn, "INSERT of a task for later")
	execute(t, conn, "BEGIN; UPDATE task SET plan = plan, live = live")
	equal(t, "locks of who sets plans", value(t, conn, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"), "0")
	execute(t, conn, "ROLLBACK")
	for _, columns := range []string{"plan) VALUES ('SELECT 1', now() + interval '1 min')", "active) VALUES ('SELECT 1', '2 days')", "repeat) VALUES ('SELECT 1', '1 min')"} {
		execute(t, conn, "INSERT INTO task (input, "+columns)
		notified(t, conn, d.Waking.Channel)
	}
	execute(t, conn, "ALTER TABLE task RENAME TO job; INSERT INTO job (input) VALUES ('')")
	notified(t, conn, d.Waking.Channel)
	equal(t, "waking of the renamed table", fmt.Sprint(described(t, conn, named("public", "job")).Waking), fmt.Sprint(d.Waking))
}

func described(t *testing.T, conn *pgx.Conn, table sql.Table) Description {
	t.Helper()
	d, err := Describe(t.Context(), conn, table)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestWaysOfWaking: each way makes what it needs, and leaves what another way has made.
func TestWaysOfWaking(t *testing.T) {
	t.Parallel()
	conn := database(t)
	tables := []sql.Table{task, {Schema: "public", Name: "parts"}}
	execute(t, conn, "CREATE TABLE parts (id bigserial, input text NOT NULL) PARTITION BY RANGE (id)")
	for _, table := range tables {
		if _, err := Install(t.Context(), conn, table, Options{Wake: sql.Poll}); err != nil {
			t.Fatal(err)
		}
	}
	modern := major.PartitionedTriggers.Of(conn)
	for _, c := range []struct {
		wake               sql.Wake
		changes, published bool
	}{
		{sql.Poll, false, false},
		{sql.Auto, true, false},
		{sql.WAL, true, true},
		{sql.Notify, true, true},
		{sql.Poll, true, true},
		{"", true, true},
	} {
		for _, table := range tables {
			if _, err := Install(t.Context(), conn, table, Options{Wake: c.wake}); err != nil {
				t.Fatalf("%s: %v", c.wake, err)
			}
			changes, err := Missing(t.Context(), conn, table, Options{Wake: c.wake})
			if err != nil || len(changes) > 0 {
				t.Errorf("%s: still to be made: %v, %v", c.wake, changes, err)
			}
			d := described(t, conn, table)
			triggers := modern || !d.Partitioned
			w := d.Waking
			if w.Inserts != triggers || w.Changes != (triggers && c.changes) || (w.Published != 0) != (triggers && c.published) {
				t.Errorf("%s: %s is %+v", c.wake, table, d)
			}
		}
	}
}

func TestDDLOfEachWayOfWaking(t *testing.T) {
	t.Parallel()
	conn := database(t)
	for _, wake := range []sql.Wake{sql.WAL, sql.Poll, sql.Notify, sql.WAL, sql.Auto} {
		script(t, conn, task, Options{Wake: wake})
		changes, err := Missing(t.Context(), conn, task, Options{Wake: wake})
		for _, change := range changes {
			t.Errorf("%s: still to be made: %s, %v", wake, change.What, err)
		}
	}
}

func TestPublicationOfATableThatWasMadeAnew(t *testing.T) {
	t.Parallel()
	conn := database(t)
	options := Options{Wake: sql.WAL}
	for range 2 {
		if _, err := Install(t.Context(), conn, task, options); err != nil {
			t.Fatal(err)
		}
		if described(t, conn, task).Waking.Published == 0 {
			t.Fatal("not published")
		}
		execute(t, conn, "DROP TABLE task")
	}
}

// TestPartitionOfItsOwn: it has the triggers of the whole table, which tell the leader of that.
func TestPartitionOfItsOwn(t *testing.T) {
	t.Parallel()
	conn := database(t)
	execute(t, conn, "CREATE TABLE whole (id bigserial, input text NOT NULL) PARTITION BY RANGE (id)")
	install(t, conn, named("public", "whole"), nil)
	execute(t, conn, "CREATE TABLE part PARTITION OF whole FOR VALUES FROM (MINVALUE) TO (MAXVALUE)")
	changes := install(t, conn, named("public", "part"), nil)
	if major.PartitionedTriggers.Of(conn) && slices.ContainsFunc(changes, func(c Change) bool { return strings.HasPrefix(c.What, "trigger pgtaskd_") }) {
		t.Errorf("made %v", changes)
	}
	complete(t, conn, named("public", "part"), nil)
}
