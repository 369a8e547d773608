package schema

import (
	"strings"
	"testing"

	"pgtaskd/sql"
)

// TestTheTableOfGroupsRefusesNonsense, and the error names the column.
func TestTheTableOfGroupsRefusesNonsense(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	for values, constraint := range map[string]string{
		`("group", rate, per) VALUES ('a', 0, '1 s')`:           "task_group_rate_check",
		`("group", rate, per) VALUES ('a', -1, '1 s')`:          "task_group_rate_check",
		`("group", rate) VALUES ('a', 1)`:                       "pgtaskd_rate_per_check",
		`("group", per) VALUES ('a', '1 s')`:                    "pgtaskd_rate_per_check",
		`("group", rate, per) VALUES ('a', 1, '0')`:             "task_group_per_check",
		`("group", rate, per) VALUES ('a', 1, '-1 s')`:          "task_group_per_check",
		`("group", rate, per) VALUES ('a', 1, '1000 years')`:    "task_group_per_check",
		`("group", rate, per) VALUES ('a', 1, '1 mon -31 day')`: "task_group_per_check",
		`("group", slots) VALUES ('a', -1)`:                     "task_group_slots_check",
		`("group") VALUES (repeat('a', 65537))`:                 "task_group_group_check",
		`("group") VALUES (repeat('a', 100) || '%')`:            "task_group_group_check",
		`("group") VALUES (NULL)`:                               "group",
		`("group", paused) VALUES ('a', NULL)`:                  "paused",
	} {
		_, err := conn.Exec(t.Context(), "INSERT INTO task_group "+values)
		if err == nil || !strings.Contains(err.Error(), constraint) {
			t.Errorf("%s: %v", values, err)
		}
	}
	execute(t, conn, `INSERT INTO task_group ("group") VALUES (repeat('a', 65536)), (''), ('%'); INSERT INTO task_group ("group", slots, rate, per) VALUES ('a', 0, 1, '1 us')`)
}

// TestTheTableOfGroupsNotesItsChanges: who made them, when, and the end of a pause that somebody
// ends.
func TestTheTableOfGroupsNotesItsChanges(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	role := stranger(t, conn, "operator")
	execute(t, conn, "GRANT SELECT, INSERT, UPDATE, DELETE ON task_group TO "+role+"; SET ROLE "+role)
	row := func() string {
		t.Helper()
		return value(t, conn, `SELECT concat_ws(' ', changed_by = current_user, changed_at <= clock_timestamp(), paused, until IS NULL, until <= clock_timestamp()) FROM task_group`)
	}
	for _, c := range []struct{ sql, want string }{
		{`INSERT INTO task_group ("group", paused, changed_by, changed_at) VALUES ('a', true, 'somebody', 'infinity')`, "t t t t"},
		{`UPDATE task_group SET note = 'n'`, "t t t t"},
		{`UPDATE task_group SET paused = false`, "t t f f t"},
		{`UPDATE task_group SET note = 'm'`, "t t f f t"},
		{`INSERT INTO task_group ("group", paused) VALUES ('a', true) ON CONFLICT ("group") DO UPDATE SET paused = excluded.paused`, "t t t t"},
		{`UPDATE task_group SET until = now() + interval '1 hour'`, "t t t f f"},
		{`UPDATE task_group SET paused = false, until = NULL`, "t t f f t"},
		{`UPDATE task_group SET paused = true, until = now() + interval '1 hour'`, "t t t f f"},
		{`UPDATE task_group SET until = now() - interval '1 hour'`, "t t t f t"},
	} {
		execute(t, conn, c.sql)
		equal(t, c.sql, row(), c.want)
	}
	execute(t, conn, "RESET ROLE")
	d, err := Describe(t.Context(), conn, task)
	if err != nil || d.Group == 0 || d.GroupSequence == 0 {
		t.Error(d.Group, d.GroupSequence, err)
	}
	equal(t, "changes", value(t, conn, "SELECT pg_sequence_last_value("+sql.Literal(limits(task))+"::regclass)"), "10") // ON CONFLICT counts twice
}
