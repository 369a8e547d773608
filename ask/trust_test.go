package ask

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/work"
)

// stranger returns a role that may create in the schema, and its session. Its function evil() fails
// if another role calls it.
func stranger(t *testing.T, target work.Target, tasks tasktest.Table) (role string, conn *pgx.Conn) {
	t.Helper()
	role = some(t, target, tasks, "stranger")
	servertest.Exec(t, tasks.Conn, "GRANT CREATE ON SCHEMA public TO "+role)
	own := as(t, target, role)
	conn = servertest.Connect(t, own.Connect.String())
	servertest.Exec(t, conn, `CREATE FUNCTION evil() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
		IF current_user <> '`+role+`' THEN RAISE 'evil ran'; END IF; RETURN 1; END $$`)
	return role, conn
}

// some returns a role that can log in, until the test ends.
func some(t *testing.T, target work.Target, tasks tasktest.Table, name string) string {
	t.Helper()
	role := name + "_" + target.Connect["dbname"]
	servertest.Exec(t, tasks.Conn, "CREATE ROLE "+role+" LOGIN")
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if conn, err := pgx.Connect(ctx, target.Connect.String()); err == nil {
			_, _ = conn.Exec(ctx, "DROP OWNED BY "+role+" CASCADE; DROP ROLE "+role, pgx.QueryExecModeSimpleProtocol)
			_ = conn.Close(ctx)
		}
	})
	return role
}

// as returns the target with another role.
func as(t *testing.T, target work.Target, role string) work.Target {
	t.Helper()
	other := single(t, target.Connect.String())
	other.Connect["user"] = role
	return other
}

// commands returns all commands that look at a table.
func commands(ctx context.Context, id int64) map[string]func(*Screen, []work.Target) error {
	return map[string]func(*Screen, []work.Target) error{
		"status": func(s *Screen, on []work.Target) error { return ShowStatus(ctx, s, on, 20*limit) },
		"ls":     func(s *Screen, on []work.Target) error { return List(ctx, s, on, Filter{}) },
		"show":   func(s *Screen, on []work.Target) error { return Show(ctx, s, on, id) },
		"stop":   func(s *Screen, on []work.Target) error { return Stop(ctx, s, on, []int64{id}) },
		"again":  func(s *Screen, on []work.Target) error { return Again(ctx, s, on, []int64{id}) },
		"pause":  func(s *Screen, on []work.Target) error { return Pause(ctx, s, on, []string{"a"}, "", "") },
		"resume": func(s *Screen, on []work.Target) error { return Resume(ctx, s, on, []string{"a"}) },
		"tail":   func(s *Screen, on []work.Target) error { return Tail(ctx, s, on) },
	}
}

// TestWhoAsksRunsNothingOfStrangers: a change fires triggers of the table's owner, and planning a
// SELECT can call functions of its indexes. So the door decides for everybody: a superuser, the
// role of a configuration, anybody. It opens for an owner whom the user trusts.
func TestWhoAsksRunsNothingOfStrangers(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	id := tasks.Add("input", "SELECT 1")
	role, theirs := stranger(t, target, tasks)
	asker := some(t, target, tasks, "asker")
	servertest.Exec(t, tasks.Conn, "ALTER TABLE task OWNER TO "+role+"; GRANT SELECT, UPDATE ON task TO "+asker)
	servertest.Exec(t, theirs, "CREATE INDEX evil ON task (id) WHERE id > evil()")
	owner, colleague := as(t, target, role), as(t, target, asker)
	owner.Trust, colleague.Trust = []string{"postgres"}, []string{"postgres"}
	for _, conn := range []*pgx.Conn{tasks.Conn, servertest.Connect(t, colleague.Connect.String())} {
		if _, err := conn.Exec(t.Context(), "SELECT id FROM task WHERE id = 1"); err == nil || !strings.Contains(err.Error(), "evil ran") {
			t.Fatal("the attack does not work at all: ", err)
		}
	}
	refused := fmt.Sprintf("role %q owns table public.task: ", role)
	for name, ask := range commands(t.Context(), id) {
		for _, on := range []work.Target{target, colleague} {
			s := people()
			err := ask(s.Screen, []work.Target{on})
			text := s.text() + fmt.Sprint(err)
			has(t, text, refused, fmt.Sprintf(`"trust": [%q]`, role), "--trust")
			hasNot(t, text, "evil ran")
		}
		if name == "tail" { // it would not end
			continue
		}
		s := people()
		err := ask(s.Screen, []work.Target{owner})
		hasNot(t, s.text()+fmt.Sprint(err), refused, "evil ran")
	}
	d := &drain{s: people().Screen, target: colleague}
	if err := d.begin(t.Context()); err != nil || d.began != "" {
		t.Error("the drain does not leave the table to who serves it: ", err)
	}
	_, err := d.session(t.Context(), time.Now(), new(time.Time))
	has(t, fmt.Sprint(err), refused)
	hasNot(t, fmt.Sprint(err), "evil ran")
	colleague.Trust = []string{role}
	err = Show(t.Context(), people().Screen, []work.Target{colleague}, id)
	has(t, fmt.Sprint(err), "evil ran")
}

// TestWhoMayWriteTasksIsNotTrustedByOthers: these roles can run SQL as the serving role. The asking
// role is another.
func TestWhoMayWriteTasksIsNotTrustedByOthers(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	id := tasks.Add("input", "SELECT 1")
	role, _ := stranger(t, target, tasks)
	servertest.Exec(t, tasks.Conn, "REVOKE CREATE ON SCHEMA public FROM "+role+"; GRANT INSERT ON task TO "+role)
	if err := Show(t.Context(), people().Screen, []work.Target{target}, id); err != nil {
		t.Fatal(err)
	}
	servertest.Exec(t, tasks.Conn, "GRANT TRIGGER ON task TO "+role)
	err := Show(t.Context(), people().Screen, []work.Target{target}, id)
	has(t, fmt.Sprint(err), fmt.Sprintf("role %q has TRIGGER on table public.task", role))
}

// TestWhatReadsCannotWrite: nor can functions of a trusted owner, whatever they set.
func TestWhatReadsCannotWrite(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	id := tasks.Add("input", "SELECT 1")
	owner, asker := some(t, target, tasks, "owner"), some(t, target, tasks, "asker")
	servertest.Exec(t, tasks.Conn, `CREATE TABLE written (); GRANT INSERT, SELECT ON written TO PUBLIC;
		CREATE FUNCTION writes() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN
			PERFORM set_config('default_transaction_read_only', 'off', false);
			BEGIN INSERT INTO public.written DEFAULT VALUES; EXCEPTION WHEN read_only_sql_transaction THEN END;
			RETURN true;
		END $$;
		GRANT `+owner+" TO "+asker+"; ALTER TABLE task OWNER TO "+owner+"; GRANT SELECT ON task TO "+asker)
	servertest.Exec(t, tasks.Conn, "CREATE POLICY p ON task USING (writes()); ALTER TABLE task ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
	member := as(t, target, asker)
	member.Trust = []string{owner}
	for name, ask := range commands(t.Context(), id) {
		if name != "status" && name != "ls" && name != "show" {
			continue
		}
		s := people()
		if err := ask(s.Screen, []work.Target{member}); err != nil && name != "status" {
			t.Error(name, err, s.text())
		}
		if n := servertest.Get(t, tasks.Conn, "SELECT count(*) FROM written"); n != "0" {
			t.Errorf("%s has written", name)
		}
	}
}
