package query

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql/schema"
)

// repeated updates the rows of tasks, as their ends do, and then runs repeat.sql for them.
func repeated(ctx context.Context, conn *pgx.Conn, d schema.Description, ids ...int64) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "UPDATE task SET data = data WHERE id = ANY ($1)", ids); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, Of(d, task).Text("repeat"), ids)
		return err
	})
}

// TestRepetitionWhoseKeyIsTaken: if another task waits with the key of a series, the series does
// not end silently.
func TestRepetitionWhoseKeyIsTaken(t *testing.T) {
	t.Parallel()
	conn := servertest.Connect(t, tasktest.Database(t))
	d := described(t, conn)
	repeat := func() {
		if err := repeated(t.Context(), conn, d, 1, 2); err != nil {
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
		servertest.Exec(t, conn, "TRUNCATE task; SELECT setval('task_id_seq', 100, false); "+
			"INSERT INTO task (id, state, stop, key, repeat, data, input) VALUES (1, 'DONE', now(), 'job', '1 day', 'series', 'SELECT 1'); "+c.rows)
		repeat()
		equal(t, c.name, servertest.Get(t, conn, `SELECT string_agg(concat(id, coalesce('>' || next, ':' || state), ' ' || error), ' ' ORDER BY id)
			FROM task WHERE notice IS NULL`), c.want)
	}

	// A series that was superseded can be resumed.
	servertest.Exec(t, conn, "TRUNCATE task; INSERT INTO task (id, state, stop, key, repeat, data, input) VALUES (1, 'DONE', now(), 'job', '1 day', 'series', ''); "+
		"INSERT INTO task (id, key, input) VALUES (3, 'job', '')")
	repeat()
	servertest.Exec(t, conn, "DELETE FROM task WHERE id = 3; UPDATE task SET state = 'PLAN' WHERE state = 'GONE'")
	equal(t, "taken up", servertest.Get(t, conn, "SELECT count(*) FROM task WHERE wait_key = 'job' AND plan > now() AND repeat = '1 day' AND data = 'series' AND parent = 1"), "1")
}

// TestRepetitionMeetsAnUncommittedTask: the statement cannot see the other task when it looks, but
// meets its key when it inserts. The end of the run stays, and the series is not lost.
func TestRepetitionMeetsAnUncommittedTask(t *testing.T) {
	t.Parallel()
	for name, c := range servertest.SomeOf(map[string]struct{ columns, want string }{
		"that runs once":                     {"(id, key, input) VALUES (103, 'job', '')", "101 DONE>150, 103 PLAN, 150 GONE ERROR:  superseded by task 103"},
		"that repeats itself":                {"(id, key, repeat, input) VALUES (103, 'job', '1 h', '')", "101 DONE>103, 103 PLAN"},
		"that goes by the clock":             {"(id, key, cron, input) VALUES (103, 'job', '@daily', '')", "101 DONE>103, 103 PLAN"},
		"that is paused":                     {"(id, key, state, input) VALUES (103, 'job', 'STOP', '')", "101 DONE>150, 103 STOP, 150 GONE ERROR:  superseded by task 103"},
		"that the run itself has inserted":   {"(id, parent, key, input) VALUES (103, 101, 'job', '')", "101 DONE>150, 103 PLAN, 150 GONE ERROR:  superseded by task 103"},
		"of another key":                     {"(id, key, input) VALUES (103, 'other', '')", "101 DONE>150, 103 PLAN, 150 PLAN"},
		"that is taken back":                 {"(id, key, input) VALUES (103, 'job', ''); ROLLBACK; BEGIN", "101 DONE>150, 150 PLAN"},
		"beside another run of the same job": {"(id, key, state, stop, repeat, input) VALUES (102, 'job', 'DONE', now(), '1 day', ''); COMMIT; BEGIN; INSERT INTO task (id, key, input) VALUES (103, 'job', '')", "101 DONE>150, 102 DONE>151, 103 PLAN, 150 GONE ERROR:  superseded by task 103, 151 GONE ERROR:  superseded by task 103"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := servertest.Database(t)
			conn, inserter := servertest.Connect(t, dsn), servertest.Connect(t, dsn)
			tasktest.Make(t, conn, schema.Options{})
			d := described(t, conn)
			servertest.Exec(t, conn, "INSERT INTO task (id, state, stop, key, repeat, input) VALUES (101, 'DONE', now(), 'job', '1 day', ''); SELECT setval('task_id_seq', 150, false)")
			servertest.Exec(t, inserter, "BEGIN; INSERT INTO task "+c.columns)
			done := make(chan error)
			go func() { done <- repeated(t.Context(), conn, d, 101, 102) }()
			if name != "of another key" && name != "that is taken back" {
				waiting(t, inserter, conn)
			}
			servertest.Exec(t, inserter, "COMMIT")
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			equal(t, "tasks", servertest.Get(t, conn, "SELECT string_agg(concat(id, ' ', state, '>' || next, ' ' || error), ', ' ORDER BY id) FROM task"), c.want)
		})
	}
}

// TestAnotherRolesJobIsKept: jobs of several roles with one key end together. The first one's
// repetition goes on; jobs of the same role join it, jobs of other roles are kept as superseded.
func TestAnotherRolesJobIsKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ roles, waits, want string }{
		{"alice bob", "", "alice>alice PLAN, bob>bob GONE"},
		{"bob alice", "", "bob>bob PLAN, alice>alice GONE"},
		{"alice bob carol", "", "alice>alice PLAN, bob>bob GONE, carol>carol GONE"},
		{"alice alice bob", "", "alice>alice PLAN, alice>alice PLAN, bob>bob GONE"},
		{"alice bob alice", "", "alice>alice PLAN, bob>bob GONE, alice>alice PLAN"},
		{"bob alice alice", "", "bob>bob PLAN, alice>alice GONE, alice>alice GONE"},
		{"alice bob", "alice", "alice>alice PLAN, bob>bob GONE"},
		{"alice bob", "bob", "alice>alice GONE, bob>bob PLAN"},
		{"alice bob", "carol", "alice>alice GONE, bob>bob GONE"},
	} {
		for name, seen := range map[string]bool{"": true, ", not committed": false} {
			if c.waits == "" && !seen {
				continue
			}
			t.Run(c.roles+" "+c.waits+name, func(t *testing.T) {
				t.Parallel()
				dsn := servertest.Database(t)
				conn, inserter := servertest.Connect(t, dsn), servertest.Connect(t, dsn)
				tasktest.Make(t, conn, schema.Options{Inserter: true, Serving: "postgres"})
				d := described(t, conn)
				d.Inserter = true
				servertest.Exec(t, conn, "SELECT setval('task_id_seq', 150, false); INSERT INTO task (id, role, state, stop, key, repeat, input) "+
					"SELECT i, r, 'FAIL', now(), 'job', '1 day', '' FROM unnest(string_to_array('"+c.roles+"', ' ')) WITH ORDINALITY AS r (r, i)")
				if c.waits != "" {
					servertest.Exec(t, inserter, "BEGIN; INSERT INTO task (id, role, key, repeat, input) VALUES (103, '"+c.waits+"', 'job', '1 h', '')")
				}
				if seen {
					servertest.Exec(t, inserter, "COMMIT")
				}
				done := make(chan error)
				go func() { done <- repeated(t.Context(), conn, d, 1, 2, 3) }()
				if !seen {
					waiting(t, inserter, conn)
					servertest.Exec(t, inserter, "COMMIT")
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				equal(t, "next", servertest.Get(t, conn, "SELECT string_agg(concat(t.role, '>', n.role, ' ', n.state), ', ' ORDER BY t.id) FROM task AS t LEFT JOIN task AS n ON n.id = t.next WHERE t.id < 100"), c.want)
				equal(t, "waiting", servertest.Get(t, conn, "SELECT count(*) FROM task WHERE wait_key = 'job'"), "1")
				equal(t, "kept beside another", servertest.Get(t, conn, `SELECT count(*) FROM task AS g LEFT JOIN task AS w ON w.wait_key = 'job'
					WHERE g.state = 'GONE' AND (g.error, true) IS DISTINCT FROM ('ERROR:  superseded by task ' || w.id, w.role <> g.role AND g.key = 'job')`), "0")
			})
		}
	}
}
