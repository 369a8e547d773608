package ask

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgtaskd/human"
	"pgtaskd/server/servertest"
	"pgtaskd/sql"
	"pgtaskd/sql/lock"
	"pgtaskd/work"
)

// TestStatusShowsTrouble: groups and jobs that are paused, jobs that fail, and why the oldest task
// waits, in the words of task_why; for people in lines that fit.
func TestStatusShowsTrouble(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	put(t, tasks.Conn, `INSERT INTO task (id, input, state, key, repeat, "group", plan, stop, failures, max_failures, error, parent, next) VALUES
		(1, '', 'FAIL', 'often', '1 h', 'group', now() - interval '1 h', now(), 0, 0, 'ERROR:  first', NULL, 2),
		(2, '', 'FAIL', 'often', '1 h', 'group', now(), now(), 1, 0, E'ERROR:  second\nDETAIL:  more', 1, 3),
		(3, '', 'PLAN', 'often', '1 h', 'group', now() + interval '1 h', NULL, 2, 0, NULL, 2, NULL),
		(4, '', 'FAIL', 'nightly', '1 h', 'group', now(), now(), 2, 3, 'ERROR:  worse', NULL, 5),
		(5, '', 'STOP', 'nightly', '1 h', 'group', now(), NULL, 3, 3, 'ERROR:  paused after 3 failures in a row', 4, NULL),
		(6, '', 'STOP', NULL, '1 h', 'group', now(), NULL, 0, 0, NULL, NULL, NULL),
		(7, '', 'PLAN', 'good', '1 h', 'mail', now() + interval '1 h', NULL, 0, 0, NULL, NULL, NULL),
		(8, '', 'FAIL', 'single', '0', 'group', now(), now(), 0, 0, 'ERROR:  once', NULL, NULL),
		(9, '', 'PLAN', NULL, '0', 'mail', now() - interval '2 h', NULL, 0, 0, NULL, NULL, NULL),
		(10, '', 'PLAN', NULL, '0', 'group', now() - interval '1 h', NULL, 0, 0, NULL, NULL, NULL),
		(11, '', 'GONE', 'late', '1 h', 'group', now() - interval '1 h', now(), 0, 0, E'ERROR:  task not active\nDETAIL:  more', NULL, 12),
		(12, '', 'PLAN', 'late', '1 h', 'group', now() + interval '2 h', NULL, 0, 0, NULL, 11, NULL),
		(14, '', 'WORK', 'far', '0', 'group', now() - interval '5 min', now() - interval '3 min', 0, 0, NULL, NULL, NULL),
		(13, '', 'PLAN', 'again', '0', 'group', now() + interval '3 h', NULL, 0, 0, 'ERROR:  third', NULL, NULL)`)
	put(t, tasks.Conn, `INSERT INTO task_group ("group", paused, until, note, changed_by) VALUES ('mail', true, NULL, E'relay\ndown', 'ann'), ('it''s%', true, '2100-01-01', NULL, 'bob'),
		('over', true, now() - interval '1 h', NULL, 'bob'), ('on', false, NULL, NULL, 'bob')`)
	put(t, tasks.Conn, "UPDATE task SET remote = 'host=far password=secret', xact = 7, xact_at = '1/2/00000001' WHERE id = 14")
	s := people()
	if err := ShowStatus(t.Context(), s.Screen, []work.Target{target}, 20*limit); !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
	_, block, _ := strings.Cut(s.out.String(), "\n\n")
	why := servertest.Get(t, tasks.Conn, "SELECT task_why(9)")
	want := strings.Join([]string{
		target.Name(),
		`  group it's% is paused by bob until 2100-01-01 00:00:00+00; pgtaskd resume 'it'\''s%' lets it go on`,
		"  group mail is paused by ann (relay down); pgtaskd resume mail lets it go on",
		"  job nightly is paused after 3 failures in a row; pgtaskd act resume 5 lets it go on; its last error: ERROR:  worse",
		"  job of task 6 is paused; pgtaskd act resume 6 lets it go on",
		"  job often has failed 2 times in a row: ERROR:  second",
		"  job late was not run: ERROR:  task not active",
		"  job again fails, and is tried again: ERROR:  third",
		"  task 14 has waited for 3 min until its remote says how it ended: host=far",
		"  task 9 of group mail has waited longest, for 2 h: " + why,
		"",
	}, "\n")
	if block != want || why == "" || s.err.Len() > 0 {
		t.Errorf("%s\nnot\n%s%s", block, want, &s.err)
	}
	s = people()
	s.Width = 60
	_ = ShowStatus(t.Context(), s.Screen, []work.Target{target}, 20*limit)
	for line := range strings.Lines(s.out.String()) {
		if human.Width(strings.TrimRight(line, "\n")) > 60 {
			t.Errorf("%d columns: %s", human.Width(line), line)
		}
	}
	has(t, s.out.String(), "READY", "FAIL 24 H", "pgtaskd\n    act resume 5 lets it go on")
	all, _ := status(t, target)
	if st := all[0]; len(st.Groups) != 2 || st.Groups[1] != (PausedGroup{"mail", "ann", "relay down", ""}) || st.Groups[0].Until != "2100-01-01T00:00:00+00:00" ||
		len(st.Paused) != 2 || len(st.Failing) != 3 || st.Failing[0] != (Job{3, "often", "PLAN", "FAIL", 2, "ERROR:  second", ""}) || st.Oldest.Why != why {
		t.Errorf("%+v", st)
	}
}

// TestStatusShowsOnlySomeTrouble: the first ones, and how many more there are.
func TestStatusShowsOnlySomeTrouble(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	put(t, tasks.Conn, "INSERT INTO task (input, state, key, repeat, failures) SELECT '', CASE WHEN i % 2 = 0 THEN 'STOP' ELSE 'PLAN' END::state, i, '1 h', i % 2 FROM generate_series(1, 60) AS i")
	s := people()
	_ = ShowStatus(t.Context(), s.Screen, []work.Target{target}, 20*limit)
	has(t, s.out.String(), "10 more jobs are paused: pgtaskd top shows them\n", "10 more jobs fail: pgtaskd top shows them\n")
	if n := strings.Count(s.out.String(), "has failed once"); n != shownMost {
		t.Error(n, s.out.String())
	}
}

// TestStatusOfATableThatCannotBeRead: one that is locked does not keep others of its database from
// being shown, and the line says who has locked it; of one that lacks columns, the leader is shown.
func TestStatusOfATableThatCannotBeRead(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	holder := servertest.Connect(t, target.Connect.String())
	if leads, err := lock.Leadership(sql.Table{Schema: "public", Name: "task"}, false).Take(t.Context(), holder); err != nil || !leads {
		t.Fatal(leads, err)
	}
	servertest.Exec(t, tasks.Conn, "CREATE TABLE old (id bigserial, state text)")
	old := target
	old.Table = "old"
	locker := servertest.Connect(t, target.Connect.String())
	servertest.Exec(t, locker, "BEGIN; LOCK TABLE task")
	all, err := status(t, target, old)
	if !errors.Is(err, ErrFailed) || all[0].Leader == nil || all[0].Tasks != nil {
		t.Errorf("%v %+v", err, all[0])
	}
	has(t, all[0].Error, fmt.Sprintf("waits for pid %d of role postgres, which has locked the table", locker.PgConn().PID()))
	has(t, all[1].Error, "lacks columns")
	servertest.Exec(t, locker, "COMMIT")
	servertest.Exec(t, tasks.Conn, "ALTER TABLE task RENAME COLUMN notice TO was_notice")
	all, _ = status(t, target)
	if all[0].Leader == nil || all[0].Tasks != nil {
		t.Errorf("%+v", all[0])
	}
	has(t, all[0].Error, "lacks columns")
}
