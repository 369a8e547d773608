package ask

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/work"
)

// TestMissingRightsAreNamed: the error says what to GRANT, and with that the command works. What
// reads needs SELECT alone.
func TestMissingRightsAreNamed(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	id := tasks.Add("input", "SELECT 1")
	role := "asker_" + target.Connect["dbname"]
	servertest.Exec(t, tasks.Conn, "CREATE ROLE "+role+" LOGIN")
	defer func() {
		servertest.Exec(t, tasks.Conn, "DROP OWNED BY "+role)
		servertest.Exec(t, tasks.Conn, "DROP ROLE "+role)
	}()
	servertest.Exec(t, tasks.Conn, "REVOKE ALL ON SCHEMA public FROM PUBLIC")
	target.Connect["user"] = role
	targets := []work.Target{target}
	for _, c := range []struct {
		name   string
		ask    func(context.Context, *Screen) error
		grants int
	}{
		{"status", func(ctx context.Context, s *Screen) error { return ShowStatus(ctx, s, targets, 20*limit) }, 2},
		{"ls", func(ctx context.Context, s *Screen) error { return List(ctx, s, targets, Filter{}) }, 0},
		{"show", func(ctx context.Context, s *Screen) error { return Show(ctx, s, targets, id) }, 0},
		{"stop", func(ctx context.Context, s *Screen) error { return Stop(ctx, s, targets, []int64{id}) }, 1},
		{"again", func(ctx context.Context, s *Screen) error { return Again(ctx, s, targets, []int64{id}) }, 0},
	} {
		s := people()
		err := c.ask(t.Context(), s.Screen)
		text := s.text()
		if err != nil {
			text += err.Error()
		}
		grants := grant.FindAllString(strings.TrimRight(text, "\n"), -1)
		if len(grants) != c.grants {
			t.Errorf("%s: %q\n%s", c.name, grants, text)
		}
		for _, statement := range grants {
			servertest.Exec(t, tasks.Conn, statement)
		}
		again := &bytes.Buffer{}
		s.Screen.Out, s.Screen.Err = again, again
		if err := c.ask(t.Context(), s.Screen); strings.Contains(again.String(), "GRANT") || err != nil && strings.Contains(err.Error(), "GRANT") {
			t.Errorf("%s: %v %s", c.name, err, again)
		}
	}
	if state := tasks.State(id); state != "STOP" {
		t.Error(state)
	}
}

var grant = regexp.MustCompile(`GRANT [^;\n]+`)

// TestASuperuserRunsNothingOfOthers: a change calls triggers that the table's owner has made, and
// the plan of a statement that only reads it calls functions of its indexes, so the owner must be
// trusted. Whoever else asks is not refused.
func TestASuperuserRunsNothingOfOthers(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	id := tasks.Add("input", "SELECT 1")
	role := "owner_" + target.Connect["dbname"]
	servertest.Exec(t, tasks.Conn, "CREATE ROLE "+role+" LOGIN; GRANT CREATE ON SCHEMA public TO "+role)
	defer func() {
		servertest.Exec(t, tasks.Conn, "DROP OWNED BY "+role)
		servertest.Exec(t, tasks.Conn, "DROP ROLE "+role)
	}()
	servertest.Exec(t, tasks.Conn, "ALTER TABLE task OWNER TO "+role)
	owner := single(t, target.Connect.String())
	owner.Connect["user"] = role
	mine := servertest.Connect(t, owner.Connect.String())
	servertest.Exec(t, mine, `CREATE FUNCTION evil() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
		IF current_setting('is_superuser') = 'on' THEN RAISE 'evil ran'; END IF; RETURN 1; END $$`)
	servertest.Exec(t, mine, "CREATE INDEX evil ON task (id) WHERE id > evil()")
	if _, err := tasks.Conn.Exec(t.Context(), "SELECT id FROM task WHERE id = 1"); err == nil || !strings.Contains(err.Error(), "evil ran") {
		t.Fatal("the attack does not work at all: ", err)
	}
	for name, ask := range map[string]func(*Screen, []work.Target) error{
		"status": func(s *Screen, on []work.Target) error { return ShowStatus(t.Context(), s, on, 20*limit) },
		"ls":     func(s *Screen, on []work.Target) error { return List(t.Context(), s, on, Filter{}) },
		"show":   func(s *Screen, on []work.Target) error { return Show(t.Context(), s, on, id) },
		"stop":   func(s *Screen, on []work.Target) error { return Stop(t.Context(), s, on, []int64{id}) },
		"pause":  func(s *Screen, on []work.Target) error { return Pause(t.Context(), s, on, []string{"a"}, "", "") },
	} {
		s := people()
		err := ask(s.Screen, []work.Target{target})
		if text := s.text() + fmt.Sprint(err); !strings.Contains(text, "table public.task belongs to role "+role) || !strings.Contains(text, "--config") {
			t.Errorf("%s: %s", name, text)
		}
		s = people()
		err = ask(s.Screen, []work.Target{owner})
		if text := s.text() + fmt.Sprint(err); strings.Contains(text, "belongs to role "+role+",") || strings.Contains(text, "evil ran") {
			t.Errorf("%s as the owner: %s", name, text)
		}
	}
}

// TestOnlyTablesAreAsked: a view that has the name is none, and a table that pgtaskd has not
// completed says so.
func TestOnlyTablesAreAsked(t *testing.T) {
	t.Parallel()
	target := single(t, servertest.Database(t))
	conn := servertest.Connect(t, target.Connect.String())
	for _, c := range []struct{ statement, want string }{
		{"SELECT", "is not there"},
		{"CREATE VIEW task AS SELECT 1 AS id", "is not a table"},
		{"DROP VIEW task; CREATE TABLE task (id bigserial, state text)", "lacks columns"},
	} {
		servertest.Exec(t, conn, c.statement)
		err := Show(t.Context(), people().Screen, []work.Target{target}, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.statement, err)
		}
	}
}
