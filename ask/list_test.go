package ask

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/servertest"
	"pgtaskd/web/rows"
	"pgtaskd/work"
)

// listed returns the ids of a list, in its order.
func listed(t *testing.T, target work.Target, f Filter) []int64 {
	t.Helper()
	s := program()
	if err := List(t.Context(), s.Screen, []work.Target{target}, f); err != nil {
		t.Fatal(err, s.text())
	}
	ids := []int64{}
	for line := range strings.Lines(s.objects.String()) {
		var task Task
		if err := json.Unmarshal([]byte(line), &task); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, task.ID)
	}
	return ids
}

// TestListFilters: each filter alone, and all together.
func TestListFilters(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	put(t, tasks.Conn, `INSERT INTO task (id, input, "group", state, key, created, start, stop) VALUES
		(1, '', 'pay-1', 'FAIL', 'a', now() - interval '2 days', now() - interval '2 hours', now() - interval '1 hour'),
		(2, '', 'pay-2', 'DONE', 'a', now() - interval '2 days', now() - interval '2 days', now() - interval '1 day'),
		(3, '', 'mail', 'WORK', NULL, now() - interval '3 days', now() - interval '3 days', NULL),
		(4, '', 'pay', 'PLAN', 'b', now(), NULL, NULL),
		(5, '', 'mail', 'FAIL', NULL, now() - interval '3 days', now() - interval '3 days', now() - interval '3 days'),
		(-6, '', 'mail', 'STOP', NULL, NULL, NULL, NULL),
		(9223372036854775807, '', 'x', 'DONE', NULL, NULL, NULL, NULL)`)
	const last = 9223372036854775807
	for _, c := range []struct {
		name string
		f    Filter
		want []int64
	}{
		{"all", Filter{}, []int64{last, 5, 4, 3, 2, 1, -6}},
		{"some", Filter{Most: 2}, []int64{last, 5}},
		{"a state", Filter{States: []string{"fail"}}, []int64{5, 1}},
		{"states", Filter{States: []string{"FAIL", "Done"}}, []int64{last, 5, 2, 1}},
		{"waiting and running", Filter{States: []string{"PLAN", "WORK"}}, []int64{4, 3}},
		{"running of a group", Filter{States: []string{"WORK"}, Group: "mail"}, []int64{3}},
		{"the newest that waits or runs", Filter{States: []string{"PLAN", "WORK"}, Most: 1}, []int64{4}},
		{"a group", Filter{Group: "pay"}, []int64{4}},
		{"groups", Filter{Group: "pay%"}, []int64{4, 2, 1}},
		{"every group", Filter{Group: "%", Most: 1}, []int64{last}},
		{"a key", Filter{Key: "a"}, []int64{2, 1}},
		{"since a while ago", Filter{Since: "90 minutes"}, []int64{4, 1}},
		{"since a day", Filter{Since: "yesterday"}, []int64{4, 2, 1}},
		{"since a moment", Filter{Since: "2020-01-01 12:00+02", Key: "b"}, []int64{4}},
		{"several", Filter{States: []string{"FAIL"}, Group: "pay%", Key: "a", Since: "3 hours"}, []int64{1}},
		{"none", Filter{Key: "no"}, []int64{}},
	} {
		if got := listed(t, target, c.f); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
	}
	for f, want := range map[*Filter]string{{Since: "no time"}: "--since", {States: []string{"OPEN"}}: "PLAN, TAKE, WORK"} {
		s := people()
		err := List(t.Context(), s.Screen, []work.Target{target}, *f)
		if text := s.text() + fmt.Sprint(err); err == nil || !strings.Contains(text, want) {
			t.Error(text)
		}
	}
}

// TestListGoesOnWhereItWas: it finds all tasks, though a statement finds only some, or looks only at
// some.
func TestListGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	put(t, tasks.Conn, fmt.Sprintf(`INSERT INTO task (id, input, state, key)
		SELECT i, '', 'DONE', CASE WHEN i %% 10 = 0 THEN 'some' WHEN i IN (1, 19999) THEN 'few' END FROM generate_series(1, %d) AS i`, 20*pageLength))
	got := listed(t, target, Filter{Key: "some"})
	if len(got) != 2*pageLength || got[0] != 20*pageLength || !slices.IsSortedFunc(got, func(a, b int64) int { return int(b - a) }) {
		t.Error(got)
	}
	if got := listed(t, target, Filter{Key: "some", Most: pageLength + 1}); len(got) != pageLength+1 {
		t.Error(len(got))
	}
	for most, want := range map[int64][]int64{0: {19_999, 1}, 1: {19_999}} {
		if got := listed(t, target, Filter{Key: "few", Most: most, within: 4 * time.Millisecond}); !slices.Equal(got, want) {
			t.Error(got)
		}
	}
	servertest.Exec(t, tasks.Conn, "DELETE FROM task")
	if got := listed(t, target, Filter{}); len(got) != 0 {
		t.Error(got)
	}
}

// TestListIsReadable: one line for each task.
func TestListIsReadable(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	put(t, tasks.Conn, `INSERT INTO task (id, input, "group", state, plan, start, stop, error, output) VALUES
		(1, 'SELECT 1/0', 'g', 'FAIL', '2030-01-31 08:00:00.5+00', now(), now() + interval '90 s', E'ERROR:  division by zero\nSTATEMENT:  …', 'x'),
		(2, E'\nSELECT 2', 'g', 'STOP', 'infinity', NULL, NULL, NULL, NULL), (3, 'SELECT 3', 'g', 'DONE', 'infinity', now(), now(), NULL, E'three\nfour')`)
	s := people()
	if err := List(t.Context(), s.Screen, []work.Target{target}, Filter{}); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(s.out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"ID STATE GROUP KEY PLAN TOOK TEXT",
		"3 DONE g - infinity 0 s three",
		"2 STOP (paused) g - infinity - SELECT 2",
		"1 FAIL g - 2030-01-31 08:00:00+00 1 min 30 s ERROR: division by zero",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Error(s.out.String())
	}
}

// TestListShowsValues: the first row of a result, without the header that several columns have.
func TestListShowsValues(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	serve(t, target)
	long := "SELECT " + strings.Repeat("1 AS the_name_of_a_column_is_long, ", 30) + "2 AS z"
	for _, c := range []struct{ columns, input, want string }{
		{"input", "SELECT 1 AS one, 2 AS two UNION ALL SELECT 3, 4 ORDER BY 1", "1  2"},
		{"input, delimiter", "SELECT 'a' AS one, 'b' AS two", "a;b"},
		{"input, header", "SELECT 'a' AS one, 'b' AS two", "a  b"},
		{"input, format", "SELECT 1 AS one, 2 AS two; SELECT 3 AS three", `[{"one": 1, "two": 2}]`},
		{"input", "SELECT E'x\ty'", "x  y"},
		{"input", "SELECT 'first line'; SELECT 1 AS one, 2 AS two", "first line"},
		{"input", "SELECT 1 AS one, 2 AS two; SELECT 1/0", "ERROR:  division by zero"},
		{"input", long, "1  1  1"},
	} {
		args := []any{c.input}
		switch {
		case strings.HasSuffix(c.columns, "delimiter"):
			args = append(args, ";")
		case strings.HasSuffix(c.columns, "header"):
			args = append(args, false)
		case strings.HasSuffix(c.columns, "format"):
			args = append(args, "json")
		}
		id := tasks.Add(c.columns, args...)
		tasks.Becomes(patient, id, "DONE", "FAIL")
		s := people()
		if err := List(t.Context(), s.Screen, []work.Target{target}, Filter{Most: 1}); err != nil {
			t.Fatal(err)
		}
		if _, line, _ := strings.Cut(s.out.String(), "\n"); !strings.Contains(line, "  "+c.want) {
			t.Errorf("%s: %s", c.input, line)
		}
	}
}

// TestListSaysWhyATableCannotBeRead: by the first error, not that of later statements.
func TestListSaysWhyATableCannotBeRead(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	b, err := open(t.Context(), target, "ls", rows.Reads)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	servertest.Exec(t, b.conn, "SET lock_timeout = '50ms'")
	servertest.Exec(t, tasks.Conn, "BEGIN; LOCK TABLE task")
	err = b.list(t.Context(), people().Screen, Filter{})
	has(t, fmt.Sprint(err), "lock timeout")
}
