package work

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Tests of a task that comes when there is nothing else to do.

// TestAlone: it is taken before there is a look at what is due, and started if a session is there that suits it.
func TestAlone(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 }) // so that nothing starts
	l := s.installed()
	s.exec("INSERT INTO task (input, plan) VALUES ('SELECT 1', 'infinity'), ('SELECT 1', statement_timestamp() + interval '1 hour')")
	comes := func(columns string, values ...any) (taken *task, started bool) {
		t.Helper()
		l.lanes.forget()
		l.tasks, l.look = map[int64]*task{}, looks{}
		s.exec("UPDATE task SET state = 'DONE' WHERE plan < now()")
		id := s.add(columns, values...)
		l.control.notified = true
		l.vigil.asleep = true
		if err := l.rescan(t.Context()); err != nil {
			t.Fatal(err)
		}
		if row, taken := s.row(id, "state, attempt"), l.tasks[id] != nil; taken != (row == `{"state":"TAKE","attempt":1}`) || taken && l.vacant() {
			t.Fatal(row, taken)
		}
		return l.tasks[id], l.look.full.IsZero()
	}
	if taken, started := comes("input", "SELECT 1"); taken != nil || started {
		t.Error("it was taken alone, and no session lies ready")
	}
	tasks, err := l.take(t.Context(), []int64{s.add("input", "SELECT 1")}, 0)
	if err != nil || len(tasks) != 1 {
		t.Fatal(err)
	}
	l.seats.put(&seat{epoch: tasks[0].row.Epoch})
	defer func() { l.seats.free = nil }()
	if taken, started := comes("input", "SELECT 1"); taken == nil || !started || !l.look.wanted {
		t.Error("it was not started at once, or what else has come would not be looked for")
	}
	if !l.unseen.next.After(l.look.scan) {
		t.Error("what the log has told of would keep the loop from sleeping")
	}
	if taken, started := comes("input, remote", "SELECT 1", s.dsn); taken == nil || started {
		t.Error("it was started where no session suits it")
	}
	s.exec("ALTER DATABASE " + pgx.Identifier{s.get("SELECT current_database()")}.Sanitize() + " SET work_mem = '5MB'")
	if taken, started := comes("input", "SELECT 1"); taken == nil || started {
		t.Error("it was started in a session with settings of before")
	}
}

// TestAloneInVain: a try that finds nothing is not made again at once, as statement triggers of the user's fire for it; nor by a leader that is awake.
func TestAloneInVain(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 })
	l := s.installed()
	s.exec(`CREATE TABLE fired ();
		CREATE FUNCTION fired() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.fired DEFAULT VALUES; RETURN NULL; END$$;
		CREATE TRIGGER fired AFTER UPDATE ON task FOR EACH STATEMENT EXECUTE FUNCTION fired()`)
	l.seats.put(&seat{})
	defer func() { l.seats.free = nil }()
	for n, before := range []func(){
		func() {},
		func() { l.vigil.asleep = true },
		func() {},
		func() { l.look.vain = l.look.vain.Add(-aloneAgain) },
	} {
		before()
		l.control.notified = true
		if err := l.rescan(t.Context()); err != nil {
			t.Fatal(err)
		}
		if fired := s.get("SELECT count(*) FROM fired"); fired != []string{"0", "1", "1", "2"}[n] {
			t.Error(n, ": fired ", fired)
		}
	}
}

// TestAloneBarred: what was taken alone when writes had been switched off is given back at once, and a drain need not wait for it.
func TestAloneBarred(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.becomes(s.add("input", "SELECT 1"), "DONE") // so that a session lies ready
	s.asleep()
	s.exec("ALTER DATABASE " + pgx.Identifier{s.get("SELECT current_database()")}.Sanitize() + " SET default_transaction_read_only = on")
	id := s.add("input", "SELECT 1")
	s.until("told of it", func() bool { return strings.Contains(s.logged(), "default_transaction_read_only is on") })
	s.eventually("true", "SELECT state = 'PLAN' AND attempt = 0 FROM task WHERE id = $1", id)
	s.drain()
}

// TestNotAlone: what may not start, or not as the only one, is left to those who look at all of it.
func TestNotAlone(t *testing.T) {
	t.Parallel()
	const one = "(input, max, plan, state) VALUES "
	for name, rows := range map[string]string{
		"nothing":     "(input, plan) VALUES ('a', 'infinity')",
		"two":         one + "('a', 0, now(), 'PLAN'), ('b', 0, now(), 'PLAN')",
		"under way":   one + "('a', 0, now(), 'PLAN'), ('b', 0, now(), 'WORK')",
		"a pause":     one + "('a', -1, now(), 'PLAN')",
		"too late":    one + "('a', 0, now() - interval '2 hours', 'PLAN')",
		"for later":   one + "('a', 0, now() + interval '1 hour', 'PLAN')",
		"an old one":  one + "('a', 0, now(), 'TAKE')",
		"it is ended": one + "('a', 0, now(), 'DONE')",
		"it repeats":  "(input, repeat) VALUES ('a', '1 hour')",
		"by cron":     "(input, cron) VALUES ('a', '@daily')", // which no INSERT lets in
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t, func(t *Target) { t.Run = 0 })
			l := s.installed()
			s.exec("SET session_replication_role TO replica; INSERT INTO task " + rows + "; RESET session_replication_role")
			before := s.get("SELECT string_agg(t::text, ',') FROM task AS t")
			alone, err := l.takeAlone(t.Context())
			if after := s.get("SELECT string_agg(t::text, ',') FROM task AS t"); alone || err != nil || before != after {
				t.Error(alone, err, after)
			}
		})
	}
}

// TestAloneRefused: a row that cannot be taken now is no error here, and keeps nobody waiting.
func TestAloneRefused(t *testing.T) {
	t.Parallel()
	s := play(t, deaf)
	s.exec(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'not this one'; END$$;
		CREATE TRIGGER refuse BEFORE UPDATE ON task FOR EACH ROW WHEN (NEW.state = 'TAKE' AND NEW.data = 'refuse') EXECUTE FUNCTION refuse()`)
	s.asleep()
	refused := s.add("input, data", "SELECT 1", "refuse")
	s.until("told", func() bool { return strings.Contains(s.logged(), "refuses a change") })
	s.becomes(refused, "PLAN")
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	s.others()
}

// TestForeignIsSeen: whether there are foreign servers is known of each look, and of each claim.
func TestForeignIsSeen(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 })
	l := s.installed()
	s.exec("CREATE FOREIGN DATA WRAPPER there; CREATE SERVER there FOREIGN DATA WRAPPER there")
	if err := l.scan(t.Context(), true); err != nil || !l.foreign.Load() {
		t.Error("a look has not seen it ", err)
	}
	l.foreign.Store(false)
	s.add("input", "SELECT 1")
	if _, err := l.takeAlone(t.Context()); err != nil || !l.foreign.Load() {
		t.Error("a claim has not seen it ", err)
	}
}

// TestForgottenClaim: a task that was taken alone is taken again when the server has forgotten that in a crash, and nothing else is.
func TestForgottenClaim(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 })
	l := s.installed()
	taken := func(vague bool) *task {
		t.Helper()
		tasks, err := l.take(t.Context(), []int64{s.add("input", "SELECT 1")}, 0)
		if err != nil || len(tasks) != 1 {
			t.Fatal(err)
		}
		tasks[0].vague = vague
		l.tasks[tasks[0].row.ID] = tasks[0]
		return tasks[0]
	}
	kept, forgotten, cut, another, durable := taken(true), taken(true), taken(true), taken(true), taken(false)
	s.exec("UPDATE task SET pid = 1") // of the leadership before
	for _, one := range []*task{kept, forgotten, cut, another, durable} {
		one.owner.Store(1)
	}
	s.exec("UPDATE task SET state = 'PLAN', attempt = 0, pid = NULL WHERE id IN ($1, $2)", forgotten.row.ID, durable.row.ID)
	s.exec("UPDATE task SET state = 'PLAN', interrupted = 1, pid = NULL WHERE id = $1", cut.row.ID)                                // by another leader
	s.exec("UPDATE task SET state = 'PLAN', attempt = 0, pid = NULL, plan = plan - '1 s'::interval WHERE id = $1", another.row.ID) // in a table made anew
	if err := l.retake(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		task  *task
		row   string
		owner int32
	}{
		"kept":      {kept, `{"state":"TAKE","attempt":1,"ours":false}`, 1},
		"forgotten": {forgotten, `{"state":"TAKE","attempt":1,"ours":true}`, l.control.pid},
		"cut":       {cut, `{"state":"PLAN","attempt":1,"ours":null}`, 1},
		"another":   {another, `{"state":"PLAN","attempt":0,"ours":null}`, 1},
		"durable":   {durable, `{"state":"PLAN","attempt":0,"ours":null}`, 1},
	} {
		if row := s.row(c.task.row.ID, fmt.Sprintf("state, attempt, pid = %d AS ours", l.control.pid)); row != c.row || c.task.owner.Load() != c.owner {
			t.Error(name, row, c.task.owner.Load())
		}
	}
}

// TestClaimsAreDurable: but for that of a task that comes alone.
func TestClaimsAreDurable(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 })
	l := s.installed()
	for _, alone := range []bool{false, true} {
		s.exec("UPDATE task SET state = 'DONE'")
		ids := []int64{s.add("input", "SELECT 1")}
		if alone {
			ids = nil
		}
		l.tell(t, "BEGIN")
		if tasks, err := l.take(t.Context(), ids, 0); err != nil || len(tasks) != 1 {
			t.Fatal(err)
		}
		var commit string
		if err := l.control.conn.QueryRow(t.Context(), "SHOW synchronous_commit").Scan(&commit); err != nil || (commit == "off") != alone {
			t.Error(alone, commit, err)
		}
		l.tell(t, "COMMIT")
	}
}

func (l *loop) tell(t *testing.T, sql string) {
	t.Helper()
	if _, err := l.control.conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}
