package sql

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server/servertest"
)

// TestRepetitionWhoseKeyIsTaken: a series whose key another task waits for does not end unseen.
func TestRepetitionWhoseKeyIsTaken(t *testing.T) {
	t.Parallel()
	conn := database(t)
	install(t, conn, task, nil)
	d, err := Describe(t.Context(), conn, task)
	if err != nil {
		t.Fatal(err)
	}
	repeat := func() {
		if _, err := conn.Exec(t.Context(), d.Queries(task).Text("repeat"), []int64{1, 2}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, rows, want string }{
		{"free", "", "1>100 100:PLAN"},
		{"another key", "INSERT INTO task (id, key, input) VALUES (3, 'other', '')", "1>100 3:PLAN 100:PLAN"},
		{"ended", "INSERT INTO task (id, key, state, input) VALUES (3, 'job', 'DONE', '')", "1>100 3:DONE 100:PLAN"},
		{"waiting", "INSERT INTO task (id, key, input) VALUES (3, 'job', '')", "1>100 3:PLAN 100:GONE ERROR:  superseded by task 3"},
		{"paused", "INSERT INTO task (id, key, state, input) VALUES (3, 'job', 'STOP', '')", "1>100 3:STOP 100:GONE ERROR:  superseded by task 3"},
		{"a series", "INSERT INTO task (id, key, repeat, input) VALUES (3, 'job', '1 h', '')", "1>3 3:PLAN"},
		{"no repetition is due", "UPDATE task SET until = now(); INSERT INTO task (id, key, input) VALUES (3, 'job', '')", "1:DONE 3:PLAN"},
		{"two of one key", "INSERT INTO task (id, state, stop, key, repeat, input) VALUES (2, 'FAIL', now(), 'job', '1 day', '')", "1>100 2>100 100:PLAN"},
	} {
		execute(t, conn, "TRUNCATE task; SELECT setval('task_id_seq', 100, false); "+
			"INSERT INTO task (id, state, stop, key, repeat, data, input) VALUES (1, 'DONE', now(), 'job', '1 day', 'series', 'SELECT 1'); "+c.rows)
		repeat()
		equal(t, c.name, value(t, conn, `SELECT string_agg(concat(id, coalesce('>' || next, ':' || state), ' ' || error), ' ' ORDER BY id)
			FROM task WHERE notice IS NULL`), c.want)
	}

	// What has been left out can be taken up again.
	execute(t, conn, "TRUNCATE task; INSERT INTO task (id, state, stop, key, repeat, data, input) VALUES (1, 'DONE', now(), 'job', '1 day', 'series', ''); "+
		"INSERT INTO task (id, key, input) VALUES (3, 'job', '')")
	repeat()
	execute(t, conn, "DELETE FROM task WHERE id = 3; UPDATE task SET state = 'PLAN' WHERE state = 'GONE'")
	equal(t, "taken up", value(t, conn, "SELECT count(*) FROM task WHERE wait_key = 'job' AND plan > now() AND repeat = '1 day' AND data = 'series' AND parent = 1"), "1")
}

// TestRunAgainOfAKeyThatWaits: an ended task can not wait beside another of its key, whatever its end was; when that waits no more, it can.
func TestRunAgainOfAKeyThatWaits(t *testing.T) {
	t.Parallel()
	conn := database(t)
	install(t, conn, task, nil)
	for _, waits := range []string{"PLAN", "STOP"} {
		execute(t, conn, "TRUNCATE task; INSERT INTO task (id, key, state, input) VALUES (1, 'job', '"+waits+"', '')")
		execute(t, conn, "INSERT INTO task (id, key, state, start, stop, stopping, input) VALUES (2, 'job', 'DONE', now(), now(), NULL, ''), (3, 'job', 'FAIL', now(), now(), NULL, ''), "+
			"(4, 'job', 'GONE', now(), now(), NULL, ''), (5, 'job', 'STOP', now(), now(), NULL, ''), (6, 'job', 'STOP', now(), NULL, true, '')")
		for _, id := range []string{"2", "3", "4", "5", "6"} {
			refused(t, conn, "UPDATE task SET state = 'PLAN' WHERE id = "+id, "23505")
			refused(t, conn, "UPDATE task SET state = 'PLAN', key = 'job', plan = now() WHERE id = "+id, "23505")
		}
		refused(t, conn, "UPDATE task SET state = 'PLAN' WHERE id > 1", "23505")
		execute(t, conn, "UPDATE task SET state = 'PLAN', key = 'another' WHERE id = 2; UPDATE task SET state = 'PLAN', key = NULL WHERE id = 3; DELETE FROM task WHERE id = 1; UPDATE task SET state = 'PLAN' WHERE id = 4")
		equal(t, "waiting", value(t, conn, "SELECT string_agg(concat(id, coalesce(wait_key, '-')), ' ' ORDER BY id) FROM task WHERE state = 'PLAN'"), "2another 3- 4job")
	}
}

// TestRepetitionMeetsAnUncommittedTask: what it could not see when it looked has its key when it is inserted. That is an error, and the next time it is seen.
func TestRepetitionMeetsAnUncommittedTask(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn, inserter := connect(t, dsn), connect(t, dsn)
	install(t, conn, task, nil)
	d, err := Describe(t.Context(), conn, task)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, conn, "INSERT INTO task (id, state, stop, key, repeat, notice, input) VALUES (101, 'DONE', now(), 'job', '1 day', 'NOTICE:  said', '')")
	execute(t, inserter, "BEGIN; INSERT INTO task (id, key, input) VALUES (103, 'job', '')")
	repeated := make(chan error)
	go func() {
		_, err := conn.Exec(t.Context(), d.Queries(task).Text("repeat"), []int64{101})
		repeated <- err
	}()
	waiting(t, inserter, conn)
	execute(t, inserter, "COMMIT")
	var answer *pgconn.PgError
	if err := <-repeated; !errors.As(err, &answer) || answer.Routine != "int28div" {
		t.Fatal(err)
	}
	execute(t, conn, strings.ReplaceAll(d.Queries(task).Text("repeat"), "$1", "ARRAY[101]::int8[]"))
	equal(t, "tasks", value(t, conn, "SELECT string_agg(concat_ws(' ', state, error), ', ' ORDER BY id) FROM task"), "GONE ERROR:  superseded by task 103, DONE, PLAN")
}
