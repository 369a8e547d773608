package apply_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"pgtaskd/apply"
	"pgtaskd/server/servertest"
	"pgtaskd/sql/schema"
)

var roles atomic.Int64

// shared returns a table where each task runs under the role that inserted it. Two roles may write
// to it; neither is a member of the other. The first one applies the files.
func shared(t *testing.T) (s *stage, ops, mallory string) {
	t.Helper()
	s = play(t)
	if _, err := schema.Install(t.Context(), s.conn, public, schema.Options{Inserter: true, Serving: "postgres"}); err != nil {
		t.Fatal(err)
	}
	ops, mallory = s.role(), s.role()
	s.exec("GRANT SELECT, INSERT, UPDATE, DELETE ON task TO " + ops + ", " + mallory)
	s.exec("GRANT USAGE ON SEQUENCE task_id_seq TO " + ops + ", " + mallory)
	s.own = dial(t, s.conn.Config().ConnString()+" user="+ops)
	return s, ops, mallory
}

func (s *stage) role() (name string) {
	s.t.Helper()
	name = fmt.Sprintf("apply_role_%d", roles.Add(1))
	s.exec("CREATE ROLE " + name + " LOGIN")
	s.t.Cleanup(func() {
		for _, statement := range []string{"DROP OWNED BY ", "DROP ROLE "} {
			if _, err := s.conn.Exec(context.WithoutCancel(s.t.Context()), statement+name); err != nil {
				s.t.Error(err)
			}
		}
	})
	return name
}

// as runs a statement as a role.
func (s *stage) as(role, sql string) {
	s.t.Helper()
	servertest.Exec(s.t, servertest.Connect(s.t, s.conn.Config().ConnString()+" user="+role), sql)
}

// TestAJobOfAnotherRoleIsNotAdopted: a role that may insert cannot make the jobs of a file run as
// its own, whether or not the applying role could change its rows.
func TestAJobOfAnotherRoleIsNotAdopted(t *testing.T) {
	t.Parallel()
	const insert = "INSERT INTO task (key, input, repeat, plan, owner) VALUES ('b', 'SELECT 666', '1 hour', 'infinity', %s)"
	for name, c := range servertest.SomeOf(map[string]struct {
		owner, more string
		super       bool
	}{
		"without an owner":                {owner: "NULL"},
		"under the owner's name":          {owner: "'git'"},
		"found by a member of its role":   {owner: "NULL", more: "GRANT $mallory TO $ops"},
		"found by the serving role":       {owner: "NULL", super: true},
		"that runs, and no task waits":    {owner: "NULL", more: "UPDATE task SET state = 'WORK', start = now()"},
		"whose role nobody has put there": {owner: "NULL", super: true, more: "UPDATE task SET role = NULL"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ops, mallory := shared(t)
			s.as(mallory, fmt.Sprintf(insert, c.owner))
			names := strings.NewReplacer("$ops", ops, "$mallory", mallory)
			servertest.Replicate(t, s.conn, names.Replace(c.more))
			if c.super {
				ops, s.own = "postgres", dial(t, s.conn.Config().ConnString())
			}
			if strings.Contains(c.more, "role = NULL") {
				mallory = ""
			}
			before := s.get("SELECT jsonb_agg(task) FROM task")
			want := fmt.Sprintf("jobs.yaml: line 4, column 8: task 1 has the key \"b\" and belongs to role %q, and these jobs run as role %q: "+
				"ask the role to delete it, or delete it (stop it first if it runs)", mallory, ops)
			s.equal("applied", s.run(two, apply.Options{}), want)
			s.equal("applied dry", s.run(two, apply.Options{DryRun: true}), want)
			s.equal("the table", s.get("SELECT jsonb_agg(task) FROM task"), before)
			_, err := apply.RunNow(t.Context(), s.own, public, "b", false)
			want = fmt.Sprintf("task 1 has the key \"b\" and belongs to role %q, and run-now would run it as role %q: "+
				"ask the role to delete it, or delete it (stop it first if it runs)", mallory, ops)
			if err == nil || err.Error() != want {
				t.Errorf("run now: %v, not %s", err, want)
			}
			s.equal("the table", s.get("SELECT jsonb_agg(task) FROM task"), before)
		})
	}
}

// TestNothingIsAppliedWhereNobodyKnowsWhoseJobsTheseAre: the trigger that records the role is gone,
// or may not have fired.
func TestNothingIsAppliedWhereNobodyKnowsWhoseJobsTheseAre(t *testing.T) {
	t.Parallel()
	for _, off := range []string{"ALTER TABLE task ENABLE TRIGGER pgtaskd_role", "COMMENT ON COLUMN task.role IS 'who asked'; DROP TRIGGER pgtaskd_role ON task"} {
		s, _, mallory := shared(t)
		s.as(mallory, "INSERT INTO task (key, input, repeat, plan, owner) VALUES ('b', 'SELECT 666', '1 hour', 'infinity', 'git')")
		s.exec(off)
		_, err := apply.RunNow(t.Context(), s.own, public, "b", true)
		for _, got := range []string{s.run(two, apply.Options{Inserter: true}), fmt.Sprint(err)} {
			if !strings.HasPrefix(got, "table public.task has a column role and no trigger that guards it") {
				t.Errorf("%s: %s", off, got)
			}
		}
	}
}

// TestJobsOfTheOwnRoleAreApplied: ended tasks of other roles with the same key do not matter.
func TestJobsOfTheOwnRoleAreApplied(t *testing.T) {
	t.Parallel()
	s, ops, mallory := shared(t)
	s.as(mallory, "INSERT INTO task (key, input) VALUES ('a', 'SELECT 666')")
	servertest.Replicate(t, s.conn, "UPDATE task SET state = 'DONE', start = now(), stop = now()")
	const rows = "SELECT string_agg(concat_ws(' ', id, key, input, role), ', ' ORDER BY id) FROM task WHERE id > 1"
	s.run(one, apply.Options{})
	s.equal("inserted", s.get(rows), "2 a SELECT 1 "+ops)
	s.equal("again", s.run(one, apply.Options{}), "")
	s.run(strings.Replace(one, "SELECT 1", "SELECT 2", 1), apply.Options{})
	s.equal("changed", s.get(rows), "2 a SELECT 2 "+ops)
	if _, err := apply.RunNow(t.Context(), s.own, public, "a", false); err != nil {
		t.Fatal(err)
	}
	s.equal("run now", s.get(rows), "2 a SELECT 2 "+ops+", 3 SELECT 2 "+ops)
}

// TestAColumnRoleOfTheUsersIsNoBar: if tasks run under the serving role, the column role is the
// user's own.
func TestAColumnRoleOfTheUsersIsNoBar(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("ALTER TABLE task ADD role text DEFAULT 'accountant'")
	s.run(one, apply.Options{})
	s.equal("again", s.run(strings.Replace(one, "SELECT 1", "SELECT 2", 1), apply.Options{}), "~ a\n    input: SELECT 1 → SELECT 2")
	if _, err := apply.RunNow(t.Context(), s.own, public, "a", false); err != nil {
		t.Error(err)
	}
}
