package ask

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/apply"
	"pgtaskd/moving"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql"
	"pgtaskd/work"
)

// stranger is a role that may create in the schema, and a session of it. Its function evil() is an
// error whoever else calls it.
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

// some is a role that can log in, until the test ends.
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

// as is the target with another role.
func as(t *testing.T, target work.Target, role string) work.Target {
	t.Helper()
	other := single(t, target.Connect.String())
	other.Connect["user"] = role
	return other
}

// commands are all that look at a table.
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

// TestWhoAsksRunsNothingOfStrangers: a change calls triggers that the table's owner has made, and
// the plan of a statement that only reads it calls functions of its indexes, so the owner must be
// trusted, be it a superuser who asks, the role of a configuration, or anybody. It runs for whoever
// says so.
func TestWhoAsksRunsNothingOfStrangers(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	id := tasks.Add("input", "SELECT 1")
	role, theirs := stranger(t, target, tasks)
	asker := some(t, target, tasks, "asker")
	servertest.Exec(t, tasks.Conn, "ALTER TABLE task OWNER TO "+role+"; GRANT SELECT, UPDATE ON task TO "+asker)
	servertest.Exec(t, theirs, "CREATE INDEX evil ON task (id) WHERE id > evil()")
	owner, colleague := as(t, target, role), as(t, target, asker)
	for _, conn := range []*pgx.Conn{tasks.Conn, servertest.Connect(t, colleague.Connect.String())} {
		if _, err := conn.Exec(t.Context(), "SELECT id FROM task WHERE id = 1"); err == nil || !strings.Contains(err.Error(), "evil ran") {
			t.Fatal("the attack does not work at all: ", err)
		}
	}
	for name, ask := range commands(t.Context(), id) {
		for _, on := range []work.Target{target, colleague} {
			s := people()
			err := ask(s.Screen, []work.Target{on})
			text := s.text() + fmt.Sprint(err)
			has(t, text, "table public.task belongs to role "+role+",", "user="+role, "--trust "+role)
			hasNot(t, text, "evil ran")
		}
		if name == "tail" { // it would go on
			continue
		}
		s := people()
		err := ask(s.Screen, []work.Target{owner})
		hasNot(t, s.text()+fmt.Sprint(err), "belongs to role "+role+",", "evil ran")
	}
	d := &drain{s: people().Screen, target: colleague}
	if err := d.begin(t.Context()); err != nil || d.began != "" {
		t.Error("the drain does not leave the table to who serves it: ", err)
	}
	_, err := d.session(t.Context(), time.Now(), new(time.Time))
	has(t, fmt.Sprint(err), "table public.task belongs to role "+role+", whom role "+asker+" has no reason to trust")
	hasNot(t, fmt.Sprint(err), "evil ran", "--trust")
	colleague.Trust = []string{role}
	err = Show(t.Context(), people().Screen, []work.Target{colleague}, id)
	has(t, fmt.Sprint(err), "evil ran")
}

// TestWhoIsLoggedInAsIsNotTrusted: where tasks run under the roles that insert them, a table that one
// of these has put in the place of the right one does not say so, but the configuration does.
func TestWhoIsLoggedInAsIsNotTrusted(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	id := tasks.Add("input", "SELECT 1")
	role, theirs := stranger(t, target, tasks)
	serving := some(t, target, tasks, "serving")
	servertest.Exec(t, tasks.Conn, "ALTER TABLE task OWNER TO "+role+"; GRANT SELECT, UPDATE ON task TO "+serving+"; GRANT "+role+" TO "+serving)
	servertest.Exec(t, theirs, "CREATE INDEX evil ON task (id) WHERE id > evil()")
	plain := as(t, target, serving)
	if err := Show(t.Context(), people().Screen, []work.Target{plain}, id); err == nil || !strings.Contains(err.Error(), "evil ran") {
		t.Fatal("the attack does not work at all: ", err)
	}
	inserters, wary := as(t, target, serving), as(t, target, serving)
	inserters.Inserter, wary.Wary = true, true
	for _, on := range []work.Target{inserters, wary} {
		for _, ask := range commands(t.Context(), id) {
			s := people()
			err := ask(s.Screen, []work.Target{on})
			text := s.text() + fmt.Sprint(err)
			has(t, text, "table public.task belongs to role "+role+",")
			hasNot(t, text, "evil ran")
		}
		conn, err := work.Dial(t.Context(), on, "pgtaskd-jobs")
		if err != nil {
			t.Fatal(err)
		}
		_, err = apply.RunNow(t.Context(), conn, sql.Table{Schema: on.Schema, Name: on.Table}, "key", false)
		has(t, fmt.Sprint(err), "table public.task belongs to role "+role+",")
		has(t, fmt.Sprint(moving.Strange(t.Context(), conn, "public.task", "TABLE")), "table public.task belongs to role "+role+",")
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestATableIsJudgedWhenItIsRead: each look is at a table that is locked, and trusted, whatever had
// its name when the command began.
func TestATableIsJudgedWhenItIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		purpose use
		look    func(context.Context, *table) error
	}{
		"status": {reads, func(ctx context.Context, b *table) error {
			return b.look(ctx, func() error { return b.status(ctx, &Status{}) })
		}},
		"ls": {reads, func(ctx context.Context, b *table) error { return b.list(ctx, people().Screen, Filter{}) }},
		"ls due": {reads, func(ctx context.Context, b *table) error {
			return b.list(ctx, people().Screen, Filter{States: []string{"PLAN"}})
		}},
		"tail": {reads, func(ctx context.Context, b *table) error { return (&tail{s: people().Screen}).look(ctx, b) }},
		"stop": {changesTasks, func(ctx context.Context, b *table) error {
			_, err := b.change(ctx, "stop", 1, stopped)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, tasks := made(t)
			tasks.Add("input", "SELECT 1")
			role, theirs := stranger(t, target, tasks)
			b, err := open(t.Context(), target, "test", c.purpose)
			if err != nil {
				t.Fatal(err)
			}
			defer b.close()
			if err := c.look(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			servertest.Exec(t, tasks.Conn, "ALTER TABLE task RENAME TO old; GRANT SELECT ON old TO "+role)
			servertest.Exec(t, theirs, "CREATE VIEW task AS SELECT o.* FROM old AS o WHERE evil() = 1; GRANT ALL ON task TO PUBLIC")
			err = c.look(t.Context(), b)
			has(t, fmt.Sprint(err), `"task" is not a table`)
			servertest.Exec(t, theirs, "DROP VIEW task; CREATE TABLE task (LIKE old); CREATE INDEX ON task (id) WHERE evil() = 1")
			err = c.look(t.Context(), b)
			has(t, fmt.Sprint(err), "table public.task belongs to role "+role)
		})
	}
}

// TestATailEndsWithItsTable: where another has its name, it says whose that is.
func TestATailEndsWithItsTable(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	role, _ := stranger(t, target, tasks)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patient)
	defer cancel()
	s, ended := people(), make(chan error)
	go func() { ended <- Tail(ctx, s.Screen, []work.Target{target}) }()
	waits(t, target)
	servertest.Exec(t, tasks.Conn, "ALTER TABLE task OWNER TO "+role)
	<-ended
	has(t, s.text(), "table public.task belongs to role "+role)
	hasNot(t, s.text(), "the connection is lost")
}

// TestAStrangersGroupsAreNotChanged, even where their table came when the command had begun.
func TestAStrangersGroupsAreNotChanged(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	role, theirs := stranger(t, target, tasks)
	b, err := open(t.Context(), target, "test", changesGroups)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	servertest.Exec(t, tasks.Conn, "DROP TABLE task_group CASCADE")
	servertest.Exec(t, theirs, `CREATE TABLE task_group ("group" text DEFAULT evil(), paused bool); GRANT ALL ON task_group TO PUBLIC`)
	err = b.look(t.Context(), func() error { t.Error("role ", role, " was trusted"); return nil })
	has(t, fmt.Sprint(err), `there is no table "public"."task_group" that`)
}

// TestAStrangersReasonIsNotAsked: the function that says why a task waits has been replaced between
// the judgement and its call.
func TestAStrangersReasonIsNotAsked(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	id := tasks.Add("input", "SELECT 1")
	_, theirs := stranger(t, target, tasks)
	b, err := open(t.Context(), target, "test", reads)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	err = b.look(t.Context(), func() error {
		if why, err := b.reason(t.Context(), id); why == "" || err != nil {
			t.Error("no reason: ", err)
		}
		servertest.Exec(t, tasks.Conn, "DROP FUNCTION task_why(int8)")
		servertest.Exec(t, theirs, "CREATE FUNCTION task_why(int8) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN public.evil(); END'")
		if why, err := b.reason(t.Context(), id); why != "" || err != nil {
			t.Error(why, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWhatReadsCannotWrite: also not by functions of an owner who is trusted, whatever they set.
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
