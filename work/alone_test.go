package work

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Tests of a task that comes when there is nothing else to do.

// TestAlone: it is taken before there is a look at what is due, and started if nothing that a look would find out can matter to it.
func TestAlone(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 }) // so that nothing starts
	l := s.installed()
	s.exec("INSERT INTO task (input, plan) VALUES ('SELECT 1', 'infinity'), ('SELECT 1', statement_timestamp() + interval '1 hour')")
	comes := func(columns string, values ...any) (*task, bool) {
		t.Helper()
		l.lanes.forget()
		l.tasks, l.look = map[int64]*task{}, looks{}
		s.exec("UPDATE task SET state = 'DONE' WHERE plan < now()")
		id := s.add(columns, values...)
		l.control.notified = true
		if err := l.rescan(t.Context()); err != nil {
			t.Fatal(err)
		}
		if row := s.row(id, "state, attempt"); row != `{"state":"TAKE","attempt":1}` || l.tasks[id] == nil || l.vacant() {
			t.Fatal(row, " was not taken alone")
		}
		return l.tasks[id], l.look.full.IsZero()
	}
	first, started := comes("input", "SELECT 1")
	if started {
		t.Error("it was started, and there is no session for it")
	}
	l.seats.put(&seat{epoch: first.row.Epoch})
	defer func() { l.seats.free = nil }()
	if _, started = comes("input", "SELECT 1"); !started || !l.look.wanted {
		t.Error("it was not started at once, or what else has come would not be looked for")
	}
	for columns, value := range map[string]string{"repeat": "1 hour", "cron": "@daily", "remote": s.dsn} {
		if _, started = comes("input, "+columns, "SELECT 1", value); started {
			t.Error("it was started, with ", columns)
		}
	}
	s.exec("ALTER DATABASE " + pgx.Identifier{s.get("SELECT current_database()")}.Sanitize() + " SET work_mem = '5MB'")
	if _, started = comes("input", "SELECT 1"); started {
		t.Error("it was started in a session with settings of before")
	}
}

// TestNotAlone: what may not start, or not as the only one, is left to those who look at all of it.
func TestNotAlone(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string]string{
		"nothing":     "",
		"two":         "('a', 0, now(), 'PLAN'), ('b', 0, now(), 'PLAN')",
		"under way":   "('a', 0, now(), 'PLAN'), ('b', 0, now(), 'WORK')",
		"a pause":     "('a', -1, now(), 'PLAN')",
		"too late":    "('a', 0, now() - interval '2 hours', 'PLAN')",
		"for later":   "('a', 0, now() + interval '1 hour', 'PLAN')",
		"an old one":  "('a', 0, now(), 'TAKE')",
		"it is ended": "('a', 0, now(), 'DONE')",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t, func(t *Target) { t.Run = 0 })
			l := s.installed()
			if rows != "" {
				s.exec(`INSERT INTO task (input, max, plan, state) VALUES ` + rows)
			}
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
