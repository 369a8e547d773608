package ask

import (
	"errors"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/work"
)

// TestPauseAndResume checks their texts, their changes, and whether they succeed.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	put(t, tasks.Conn, `INSERT INTO task (input, "group", state, stop) VALUES ('', 'used-1', 'DONE', now())`)
	get := func(sql string) string { return servertest.Get(t, tasks.Conn, sql) }
	const row = `SELECT coalesce((SELECT concat_ws(' ', paused AND coalesce(until > now(), true), note) FROM task_group WHERE "group" = 'a'), '')`
	for _, c := range []struct {
		name   string
		do     func(s *Screen) error
		does   bool
		says   string
		leaves string
	}{
		{"resume what was never paused", func(s *Screen) error { return Resume(t.Context(), s, []work.Target{target}, []string{"a"}) }, false, "a is not paused by a row of its own", ""},
		{"pause", func(s *Screen) error {
			return Pause(t.Context(), s, []work.Target{target}, []string{"a", "b%"}, "", "because")
		}, true, "a is paused, though no task has this group\nb% is paused, though no task has a group that begins so\n", "t because"},
		{"pause what has tasks", func(s *Screen) error {
			return Pause(t.Context(), s, []work.Target{target}, []string{"used-1", "used%"}, "", "")
		}, true, "used-1 is paused\nused% is paused\n", "t because"},
		{"pause until", func(s *Screen) error {
			return Pause(t.Context(), s, []work.Target{target}, []string{"a"}, "2 hours", "")
		}, true, "a is paused until 2", "t because"},
		{"resume", func(s *Screen) error { return Resume(t.Context(), s, []work.Target{target}, []string{"a"}) }, true, "a is resumed\n", "f because"},
		{"pause again", func(s *Screen) error { return Pause(t.Context(), s, []work.Target{target}, []string{"a"}, "", "") }, true, "a is paused, though", "t because"},
		{"resume what another row pauses", func(s *Screen) error { return Resume(t.Context(), s, []work.Target{target}, []string{"bc"}) }, false, "it is still paused by b%", "t because"},
		{"no moment", func(s *Screen) error { return Pause(t.Context(), s, []work.Target{target}, []string{"a"}, "soon", "") }, false, "", "t because"},
		{"too long", func(s *Screen) error {
			return Pause(t.Context(), s, []work.Target{target}, []string{strings.Repeat("a", 1000) + "%"}, "", "")
		}, false, "cannot be changed: ", "t because"},
	} {
		s := people()
		err := c.do(s.Screen)
		if (err == nil) != c.does || !strings.Contains(s.text(), c.says) || get(row) != c.leaves {
			t.Errorf("%s: %v %s %s", c.name, err, s.text(), get(row))
		}
	}
	s := program()
	if err := Pause(t.Context(), s.Screen, []work.Target{target}, []string{"a"}, "2100-01-01 00:00:00+00", ""); err != nil {
		t.Error(err)
	}
	has(t, s.objects.String(), `"group":"a","paused":true,"until":"2`, `"done":true`)
	s = people()
	servertest.Exec(t, tasks.Conn, "ALTER FUNCTION pg_catalog.statement_timestamp() RENAME TO moved")
	if err := Pause(t.Context(), s.Screen, []work.Target{target}, []string{"a"}, "1 day", ""); !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
	has(t, s.text(), "a cannot be changed: function statement_timestamp() does not exist")
	servertest.Exec(t, tasks.Conn, "ALTER FUNCTION pg_catalog.moved() RENAME TO statement_timestamp; DROP TABLE task_group")
	if err := Pause(t.Context(), people().Screen, []work.Target{target}, []string{"a"}, "", ""); err == nil || errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "there is no table") {
		t.Error(err)
	}
}
