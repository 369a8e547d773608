package work

import (
	"fmt"
	"testing"

	"pgtaskd/server/servertest"
)

// TestChainsDoNotBreakInSilence: where the table refuses a repetition, the run is DONE, its row says
// that its series has ended and why, and so does the log.
func TestChainsDoNotBreakInSilence(t *testing.T) {
	t.Parallel()
	for i, c := range []struct{ name, before, input, want string }{
		{"a unique column", "ALTER TABLE task ADD UNIQUE (data)", "INSERT INTO public.effect VALUES (1)", "DONE 23505 1"},
		{"a unique column, reading", "ALTER TABLE task ADD UNIQUE (data)", "SELECT 1", "DONE 23505 0"},
		{"a unique index", `CREATE UNIQUE INDEX mine ON task ("group") WHERE repeat > '0'`, "INSERT INTO public.effect VALUES (1)", "DONE 23505 1"},
		{"an exclusion", `ALTER TABLE task ADD EXCLUDE (repeat WITH =)`, "INSERT INTO public.effect VALUES (1)", "DONE 23P01 1"},
		{"a trigger that refuses", `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.parent IS NOT NULL THEN RAISE 'no' USING ERRCODE = 'TK999'; END IF; RETURN NEW; END$$;
			CREATE TRIGGER refuse BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION refuse()`, "INSERT INTO public.effect VALUES (1)", "DONE TK999 1"},
		{"a trigger that returns null", `CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN CASE WHEN NEW.parent IS NULL THEN NEW END; END$$;
			CREATE TRIGGER skip BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION skip()`, "INSERT INTO public.effect VALUES (1)", "DONE 55000 1"},
		{"a trigger that returns null, reading", `CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN CASE WHEN NEW.parent IS NULL THEN NEW END; END$$;
			CREATE TRIGGER skip BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION skip()`, "SELECT 1", "DONE 55000 0"},
		{"nothing", "", "INSERT INTO public.effect VALUES (1)", "DONE  1"},
	} {
		if !servertest.Thorough && i%4 != 1 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			s.exec("CREATE TABLE effect (n int)")
			if c.before != "" {
				s.exec(c.before)
			}
			id := s.add("input, repeat, data", c.input, "1 day", "mine")
			s.becomes(id, "DONE", "FAIL")
			got := s.get("SELECT concat(state, ' ', sqlstate, ' ', (SELECT count(*) FROM effect)) FROM task WHERE id = $1", id)
			if got != c.want {
				t.Errorf("%s, want %s: %s", got, c.want, s.get("SELECT error FROM task WHERE id = $1", id))
			}
			if c.before != "" {
				s.says("the table refuses the repetition of a task; its series has ended", `"error"`)
			}
			s.others()
		})
	}
}

// TestRepetitionDrawsItsIdAnew when somebody has taken it by hand.
func TestRepetitionDrawsItsIdAnew(t *testing.T) {
	t.Parallel()
	s := play(t)
	for i, input := range []string{"SELECT 1", "CREATE TABLE effect ()", "SELECT 1/0"} {
		id := s.add(`input, repeat, plan, "group"`, input, "1 day", "infinity", fmt.Sprint("g", i))
		s.exec("INSERT INTO task (id, input, plan) SELECT i, '', 'infinity' FROM generate_series($1::int8 + 1, $1 + 50) AS i", id)
		s.exec("UPDATE task SET plan = now() - interval '1 min' WHERE id = $1", id)
		s.eventually("true", "SELECT next IS NOT NULL FROM task WHERE id = $1", id)
		if next := s.get("SELECT t.next > t.id + 50 AND n.parent = t.id AND n.state = 'PLAN' FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.id = $1", id); next != "true" {
			t.Error(input, next)
		}
		s.exec("SELECT setval('task_id_seq', (SELECT max(id) FROM task))")
	}
}

// TestADayThatTheClockMovesIsNoDayForEver: days are counted from the chain's origin as months are,
// so that the day after a skipped hour is back at its own time.
func TestADayThatTheClockMovesIsNoDayForEver(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.exec(fmt.Sprintf("ALTER DATABASE %s SET TimeZone = 'Europe/Berlin'", s.get("SELECT current_database()")))
	s.conn = s.connect()
	s.serve()
	s.settled()
	for _, period := range []string{"1 day", "7 days", "1 mon", "1 day 12:00"} {
		first := s.add("input, repeat, active, plan", "SELECT 1", period, "0", "2026-03-01 02:30")
		s.eventually("true", "SELECT next IS NOT NULL FROM task WHERE id = $1", first)
		if origin := s.get("SELECT n.origin FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.id = $1", first); origin != "2026-03-01 02:30:00+01" {
			t.Errorf("every %s: the chain counts from %s", period, origin)
		}
	}
	// The 29th of March 2026 has no half past two.
	moved := s.add("input, repeat, active, plan, origin", "SELECT 1", "1 day", "0", "2026-03-29 03:30", "2026-03-01 02:30")
	s.eventually("true", "SELECT next IS NOT NULL FROM task WHERE id = $1", moved)
	if next := s.get("SELECT to_char(n.plan, 'HH24:MI') FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.id = $1", moved); next != "02:30" {
		t.Errorf("the day after comes at %s", next)
	}
}

// TestATaskThatItsOwnSQLRefersToIsMarkedAndStopped: a foreign key's check locks the row, and keeps
// nothing of ours from it.
func TestATaskThatItsOwnSQLRefersToIsMarkedAndStopped(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE child (task int8 REFERENCES task (id))")
	id := s.add("input", "INSERT INTO child SELECT current_setting('pg_task.id')::int8; SELECT pg_sleep(60)")
	s.becomes(id, "WORK")
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", id)
	s.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = $1", id)
	if got := s.get("SELECT state::text || (SELECT count(*) FROM child) FROM task WHERE id = $1", id); got != "STOP0" {
		t.Error(got)
	}
}

// TestRepetitionsAreCountedInTheZoneThatTheRoleHasNow: a change of it reaches the next repetition,
// whichever way an end is written.
func TestRepetitionsAreCountedInTheZoneThatTheRoleHasNow(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	for _, zone := range []string{"Asia/Tokyo", "America/New_York"} {
		s.exec(fmt.Sprintf("ALTER DATABASE %s SET TimeZone = '%s'", s.get("SELECT current_database()"), zone))
		for _, input := range []string{"SELECT 1", "CREATE TABLE IF NOT EXISTS effect ()", "SELECT 1/0"} {
			// Across a change of the clocks a month has another length in each zone.
			id := s.add("input, repeat, active, plan", input, "1 mon", "0", "2026-06-01 12:00:00+00")
			s.eventually("true", "SELECT next IS NOT NULL FROM task WHERE id = $1", id)
			if right := s.get("SELECT n.plan AT TIME ZONE $2 - t.plan AT TIME ZONE $2 = date_trunc('day', n.plan AT TIME ZONE $2 - t.plan AT TIME ZONE $2) FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.id = $1", id, zone); right != "true" {
				t.Errorf("%s in %s: the next comes at %s", input, zone, s.get("SELECT n.plan FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.id = $1", id))
			}
		}
	}
}

// TestASeriesDoesNotEndByAnOddTimeZone of the role, which somebody may have set for a moment: it
// waits.
func TestASeriesDoesNotEndByAnOddTimeZone(t *testing.T) {
	t.Parallel()
	s := play(t)
	database := s.get("SELECT current_database()")
	s.add("input, cron", "SELECT 1", "* * * * * *")
	s.eventually("true", "SELECT count(*) > 0 FROM task WHERE state = 'DONE'")
	s.drain()
	s.exec("ALTER DATABASE " + database + " SET TimeZone = '<x>+167:59'")
	s.serve()
	s.says("is no name of the tz database: repetitions by cron wait")
	fails := s.add("input, cron", "SELECT 1", "* * * * * *") // its author sees it at once
	s.becomes(fails, "FAIL")
	before := s.get("SELECT count(*) FROM task WHERE state = 'DONE'")
	s.exec("ALTER DATABASE " + database + " RESET TimeZone")
	s.eventually("true", "SELECT count(*) > $1::int8 FROM task WHERE state = 'DONE'", before)
	if got := s.get("SELECT count(*) FROM task WHERE state = 'FAIL' AND id <> $1", fails); got != "0" {
		t.Error("the series has ended")
	}
}
