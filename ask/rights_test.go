package ask

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/work"
)

// TestMissingRightsAreNamed: the error says what to GRANT, and after that the command works. A
// command that only reads needs only SELECT.
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

// TestOnlyTablesAreAsked: not a view of that name. A table that pgtaskd has not completed is an
// error.
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
