package work

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgtaskd/sql"
	"pgtaskd/sql/schema"
)

// successor adds a task that runs after others.
func (s *stage) successor(input string, after ...int64) int64 {
	s.t.Helper()
	return s.add(`input, after, delete, "group"`, input, after, false, fmt.Sprint("after ", after))
}

// TestAfter: a task starts when all tasks that it names have ended well, or are gone. If one has
// not ended well, the task is given up.
func TestAfter(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE result (id bigint, value text)")
	write := func(value string) int64 {
		return s.add(`input, delete, plan, "group"`, "INSERT INTO result VALUES (current_setting('pg_task.id')::bigint, '"+value+"')", false, "infinity", value)
	}
	release := func(ids ...int64) { s.exec("UPDATE task SET plan = now() WHERE id = ANY ($1)", ids) }
	waits := func(id int64) {
		t.Helper()
		if state := s.state(id); state != "PLAN" {
			t.Errorf("task %d is %s: %s", id, state, s.row(id, "error, after, awaits, freed, due"))
		}
	}

	// A diamond: the last task sees the writes of the others.
	top := write("a")
	left, right := s.successor("INSERT INTO result SELECT 0, value || 'b' FROM result", top), s.successor("SELECT pg_sleep(0.2)", top)
	bottom := s.successor("SELECT string_agg(value, ' ' ORDER BY value) FROM result", left, right)
	waits(left)
	waits(bottom)
	release(top)
	s.becomes(bottom, "DONE")
	if got := s.row(bottom, "output, awaits, start >= (SELECT max(stop) FROM task AS p WHERE p.id = ANY (task.after)) AS later"); got != `{"output":"a ab","awaits":null,"later":true}` {
		t.Error(got)
	}
	s.becomes(s.successor("SELECT 1", top, bottom, 0, -1), "DONE") // these ended long ago
	s.becomes(s.successor("SELECT 1"), "DONE")

	// A failed task ends its successors, and theirs, even if they also wait for an open task.
	waited := write("never")
	fails := s.add(`input, retry, backoff, plan, "group"`, "SELECT 1/0", 1, "1 ms", "infinity", "f")
	next := s.add(`input, after, on_fail, delete, "group"`, "SELECT 1", []int64{waited, fails}, "SELECT 'told'", false, "g")
	last := s.successor("SELECT 1", next)
	release(fails)
	s.becomes(last, "GONE")
	for id, of := range map[int64]string{next: fmt.Sprint(fails, ", after which it was to run, has ended as FAIL"), last: fmt.Sprint(next, ", after which it was to run, has ended as GONE")} {
		if got := s.get("SELECT error FROM task WHERE id = $1", id); got != "ERROR:  task "+of {
			t.Error(got)
		}
	}
	s.eventually("told", "SELECT output FROM task WHERE parent = $1", next)
	s.becomes(s.successor("SELECT 1", last), "GONE")

	// Successors wait for a paused task, and for a retry. A stop ends them, a deletion does not.
	paused, tries, stopped, deleted := write("p"), s.add("input, retry, backoff", "SELECT 1 / (current_setting('pg_task.attempt')::int - 1)", 1, "300 ms"), s.runningIn("s", "SELECT pg_sleep(60)", 0), write("d")
	afterPaused, afterTries, afterStopped, afterDeleted := s.successor("SELECT 1", paused), s.successor("SELECT 1", tries), s.successor("SELECT 1", stopped), s.successor("SELECT 1", deleted)
	// A successor that is paused before that is looked at when it goes on.
	s.eventually(fmt.Sprint(deleted), "SELECT awaits FROM task WHERE id = $1", afterDeleted)
	s.exec("UPDATE task SET state = 'STOP' WHERE id = ANY ($1)", []int64{paused, stopped, afterDeleted})
	s.exec("DELETE FROM task WHERE id = $1", deleted)
	s.becomes(afterStopped, "GONE")
	s.becomes(afterTries, "DONE")
	waits(afterPaused)
	s.eventually("true", "SELECT freed < 'infinity' FROM task WHERE id = $1", afterDeleted)
	s.exec("UPDATE task SET state = 'PLAN', plan = now() WHERE id = ANY ($1)", []int64{paused, afterDeleted})
	s.becomes(afterPaused, "DONE")
	s.becomes(afterDeleted, "DONE")
}

// TestActiveCountsFromTheEndOfWhatIsWaitedFor: active of a successor counts from the end of the
// task before it.
func TestActiveCountsFromTheEndOfWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := play(t)
	const columns = "input, plan, active, delete, after, state, start, stop"
	first := s.runningIn("first", "SELECT pg_sleep(0.3)", 0)
	long := s.get("SELECT now() - interval '1 hour'")
	waits := s.add("input, plan, active, delete, after", "SELECT 1", long, "1 min", false, []int64{first})
	ended := s.add(columns, "SELECT 1", long, "1 min", false, nil, "DONE", long, s.get("SELECT now() - interval '30 min'"))
	late := s.add("input, plan, active, delete, after", "SELECT 1", long, "1 min", false, []int64{ended})
	s.becomes(waits, "DONE")
	s.becomes(late, "GONE")
	if got := s.row(late, "error"); got != `{"error":"ERROR:  task not active\nDETAIL:  not started within active (1 min) of the end of the tasks in after"}` {
		t.Error(got)
	}
}

// TestAfterIsChanged: somebody changes after of a waiting task. It also counts again when a task is
// set to run once more.
func TestAfterIsChanged(t *testing.T) {
	t.Parallel()
	s := play(t)
	never, fails := s.add("input, plan", "SELECT 1", "infinity"), s.doneOrFailed("SELECT 1/0")
	one, other, third := s.successor("SELECT 1", never), s.successor("SELECT 1", never), s.successor("SELECT 1", never)
	s.eventually("3", "SELECT count(*) FROM task WHERE awaits = $1", never)
	s.exec("UPDATE task SET after = NULL WHERE id = $1", one)
	s.exec("UPDATE task SET after = $2 WHERE id = $1", other, []int64{fails})
	s.exec("UPDATE task SET after = $2 WHERE id = $1", third, []int64{one, never})
	s.becomes(one, "DONE")
	s.becomes(other, "GONE")
	s.exec("UPDATE task SET state = 'PLAN' WHERE id = $1", other)
	s.eventually("GONE 2", "SELECT concat_ws(' ', state, jsonb_array_length(runs) + 1) FROM task WHERE id = $1", other)
	s.exec("UPDATE task SET state = 'PLAN', input = 'SELECT pg_sleep(0.2)' WHERE id = $1", fails)
	s.exec("UPDATE task SET state = 'PLAN' WHERE id = $1", other)
	s.becomes(other, "DONE")
	s.eventually(fmt.Sprint(never), "SELECT awaits FROM task WHERE id = $1", third)
	s.exec("UPDATE task SET repeat = '1 day' WHERE id = $1", third)
	s.exec("DELETE FROM task WHERE id = $1", never)
	s.becomes(third, "DONE")
	s.eventually("true", "SELECT after IS NULL AND awaits IS NULL AND freed IS NULL FROM task WHERE parent = $1", third)
}

// TestCyclesAreGivenUp: and so are tasks that wait for a task of the cycle.
func TestCyclesAreGivenUp(t *testing.T) {
	t.Parallel()
	s := play(t)
	var ids []int64
	for range 3 {
		ids = append(ids, s.add("input, plan", "SELECT 1", "infinity"))
	}
	behind := s.successor("SELECT 1", ids[1])
	self := s.add("input, plan", "SELECT 1", "infinity")
	for i, id := range ids {
		s.exec("UPDATE task SET after = $2, plan = now() WHERE id = $1", id, []int64{ids[(i+1)%3]})
	}
	s.exec("UPDATE task SET after = ARRAY[id], plan = now() WHERE id = $1", self)
	for _, id := range append(slices.Clone(ids), self) {
		s.becomes(id, "GONE")
		if got := s.row(id, "error"); !strings.Contains(got, "cycle") {
			t.Error(got)
		}
	}
	s.becomes(behind, "GONE")
	if got := s.row(ids[0], "error"); got != `{"error":"ERROR:  tasks wait for each other in a cycle\nDETAIL:  Task 1 waits for task 2, and so on, through 3 tasks in all."}` {
		t.Error(got)
	}
}

// TestWhatEndsWithoutTellingIsFound: the next leader looks at all tasks that others wait for.
func TestWhatEndsWithoutTellingIsFound(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	if _, err := schema.Install(t.Context(), s.conn, s.target.Relation(), schema.Options{}); err != nil {
		t.Fatal(err)
	}
	first, second := s.add("input, plan", "SELECT 1", "infinity"), s.add("input, plan", "SELECT 1", "infinity")
	after, both := s.successor("SELECT 1", first), s.successor("SELECT 1", first, second)
	s.serve()
	s.eventually("2", "SELECT count(*) FROM task WHERE awaits IS NOT NULL")
	s.drain()
	s.exec("SET session_replication_role = replica")
	s.exec("UPDATE task SET state = 'DONE', stop = now() WHERE id = $1", first)
	s.exec("DELETE FROM task WHERE id = $1", second)
	s.serve()
	s.becomes(after, "DONE")
	s.becomes(both, "DONE")
}

// TestLockedSuccessorsAreSeenToLater: and they keep no other task from starting.
func TestLockedSuccessorsAreSeenToLater(t *testing.T) {
	t.Parallel()
	s := play(t)
	first := s.add("input, plan", "SELECT 1", "infinity")
	locked, free := s.successor("SELECT 1", first), s.successor("SELECT 1", first)
	s.eventually("2", "SELECT count(*) FROM task WHERE awaits = $1", first)
	release := s.lock(locked, "FOR UPDATE")
	s.exec("UPDATE task SET plan = now() WHERE id = $1", first)
	s.becomes(free, "DONE")
	release()
	s.becomes(locked, "DONE")
}

// TestAfterWhereverItRuns: on the target or on a remote, and with each way to wake the leader.
func TestAfterWhereverItRuns(t *testing.T) {
	t.Parallel()
	for name, wake := range map[string]sql.Wake{"notify": sql.Auto, "wal": sql.WAL, "poll": sql.Poll} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t, func(target *Target) { target.Wake = wake })
			add := func(remote string, after ...int64) int64 {
				return s.add(`input, remote, after, delete, "group"`, "SELECT pg_sleep(0.05)", remote, after, false, fmt.Sprint(remote, after))
			}
			far, near := add(s.dsn), add("")
			both := []int64{add(s.dsn, far, near), add("", far, near)}
			last := []int64{add(s.dsn, both...), add("", both...)}
			s.eventually("2", "SELECT count(*) FROM task WHERE id = ANY ($1) AND state = 'DONE'", last)
			// The clock of a remote is known only roughly.
			if early := s.get("SELECT count(*) FROM task AS t JOIN task AS p ON p.id = ANY (t.after) WHERE t.start < p.stop - interval '10 ms'"); early != "0" {
				t.Error(early, "have begun before what they wait for had ended")
			}
			s.exec("UPDATE task SET state = 'PLAN', input = 'SELECT 1/0', retry = 0 WHERE id = $1", far)
			s.becomes(far, "FAIL")
			s.becomes(add(s.dsn, far), "GONE")
		})
	}
}

// TestManyFollow: many tasks after one, one task after many in any order, and a chain.
func TestManyFollow(t *testing.T) {
	t.Parallel()
	s := play(t)
	gate := s.add(`input, plan, "group"`, "SELECT 1", "infinity", "gate")
	s.exec(`INSERT INTO task (input, max, priority, after, delete) SELECT 'SELECT 1', 7, i % 5, ARRAY[$1::int8], false FROM generate_series(1, 1500) AS i`, gate)
	s.exec("INSERT INTO task (input, max, after) SELECT 'SELECT ''in''', 7, array_agg(id) FROM task WHERE after IS NOT NULL")
	s.exec(`INSERT INTO task (id, input, after, delete, "group") SELECT nextval('task_id_seq'), 'SELECT 1', ARRAY[lastval() - 1], false, 'chain' FROM generate_series(1, 100)`)
	s.exec("UPDATE task SET plan = now() WHERE id = $1", gate)
	s.eventually("in", "SELECT output FROM task WHERE cardinality(after) = 1500")
	s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE'")
	s.eventually("true", "SELECT bool_and(start >= (SELECT stop FROM task AS p WHERE p.id = t.after[1])) FROM task AS t WHERE \"group\" = 'chain'")
}

// TestATasksOwnRoleChangesWhatItWaitsFor: pgtaskd_accept resets what the leader has written.
func TestATasksOwnRoleChangesWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.exec(c.named("GRANT $bob TO $serving"))
	first := c.asks(c.bob, "SELECT 1", "plan", "'infinity'")
	behind := c.asks(c.bob, "SELECT 1", "after", fmt.Sprintf("'{%d}'", first), `"delete"`, "false")
	c.eventually("true", "SELECT awaits IS NOT NULL FROM task WHERE id = $1", behind)
	c.must(c.bob, fmt.Sprintf("UPDATE task SET after = NULL WHERE id = %d", behind))
	c.becomes(behind, "DONE")
}
