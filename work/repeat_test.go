package work

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// TestRepetitionsAgainstPostgreSQL compares the plans of repetitions with PostgreSQL's own
// arithmetic, period by period, after successes and after failures.
func TestRepetitionsAgainstPostgreSQL(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"}
	for i, zone := range zones {
		if !servertest.Thorough && i%4 != 1 {
			continue
		}
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			s.exec(fmt.Sprintf("ALTER DATABASE %s SET TimeZone = '%s'", s.get("SELECT current_database()"), zone))
			s.conn = s.connect()
			s.serve()
			s.settled()
			random := rand.New(rand.NewPCG(7, uint64(i)))
			for _, input := range []string{"SELECT 1", "SELECT 1/0"} {
				for range 60 {
					s.exec("INSERT INTO task (input, max, active, repeat, plan, retry) VALUES ($1, 1000, '0', $2::interval, "+
						"now() - $3::interval, 0)", input, period(random), age(random))
				}
			}
			s.eventually("0", "SELECT count(*) FROM task WHERE parent IS NULL AND state NOT IN ('DONE', 'FAIL')")
			s.exec("CREATE FUNCTION beat(base timestamptz, period interval, after timestamptz) RETURNS timestamptz LANGUAGE plpgsql AS " +
				"$$DECLARE k int8 := 1; BEGIN WHILE base + period * k <= after LOOP k := k + 1; END LOOP; RETURN base + period * k; END$$")
			wrong := s.get("SELECT json_agg(w) FROM (SELECT t.id, t.repeat, t.plan, t.stop, n.plan AS next, beat(t.plan, t.repeat, n.created) AS expected " +
				"FROM task AS t LEFT JOIN task AS n ON n.id = t.next WHERE t.parent IS NULL AND n.plan IS DISTINCT FROM beat(t.plan, t.repeat, n.created)) AS w")
			if wrong != "NULL" {
				t.Error(wrong)
			}
		})
	}
}

func period(r *rand.Rand) string {
	switch r.IntN(7) {
	case 0:
		return fmt.Sprintf("%d months", 1+r.IntN(30))
	case 1:
		return fmt.Sprintf("%d days", 1+r.IntN(40))
	case 2:
		return fmt.Sprintf("%d months %d days", 1+r.IntN(4), r.IntN(40))
	case 3:
		return fmt.Sprintf("%d days %d hours", 1+r.IntN(9), r.IntN(50))
	case 4:
		return fmt.Sprintf("%d hours %d minutes", 1+r.IntN(30), r.IntN(100))
	case 5:
		return fmt.Sprintf("%d months %d days %d hours", 1+r.IntN(3), r.IntN(70), r.IntN(100))
	default:
		return fmt.Sprintf("%d years", 1+r.IntN(3))
	}
}

func age(r *rand.Rand) string {
	switch r.IntN(3) {
	case 0:
		return fmt.Sprintf("%d minutes", 1+r.IntN(3000))
	case 1:
		return fmt.Sprintf("%d days %d seconds", 1+r.IntN(800), r.IntN(86400))
	default:
		return fmt.Sprintf("%d days %d hours", 1+r.IntN(8000), r.IntN(24))
	}
}

// TestRepetitionWithDrift: it counts from the end of the run.
func TestRepetitionWithDrift(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("INSERT INTO task (input, active, repeat, plan, drift) SELECT i, '0', '1 day', now() - interval '10 days', true FROM unnest(ARRAY['SELECT 1', 'SELECT 1/0']) AS i")
	s.eventually("2", "SELECT count(*) FROM task WHERE parent IS NULL AND next IS NOT NULL")
	s.eventually("0", "SELECT count(*) FROM task AS t JOIN task AS n ON n.id = t.next WHERE abs(extract(epoch FROM n.plan - t.stop - interval '1 day')) > 0.01")
}

// TestMonthsKeepTheirDay: a chain by months counts from its origin, unless somebody has moved the
// task away from it.
func TestMonthsKeepTheirDay(t *testing.T) {
	t.Parallel()
	s := play(t)
	for plan, from := range map[string]string{"2020-04-30 12:00:00+00": "2019-12-31 12:00:00+00", "2020-04-15 12:00:00+00": "2020-04-15 12:00:00+00"} {
		id := s.add("plan, origin, repeat, active, input", plan, "2019-12-31 12:00:00+00", "2 mons", "0", "SELECT 1")
		s.becomes(id, "DONE")
		want := s.get("SELECT min(b)::text FROM (SELECT $1::timestamptz + k * interval '2 mons' AS b FROM generate_series(1, 3000) AS k) AS beats WHERE b > now()", from)
		if got := s.get("SELECT plan::text FROM task WHERE parent = $1", id); got != want {
			t.Errorf("after %s comes %s, want %s", plan, got, want)
		}
	}
}

// TestColumnAddedLater: a repetition copies columns that users add while the controller runs.
func TestColumnAddedLater(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	s.exec("ALTER TABLE task ADD COLUMN \"their own\" text")
	for _, input := range []string{"SELECT 1", "CREATE TABLE made ()"} {
		id := s.add(`repeat, "their own", input`, "1 day", "kept", input)
		s.becomes(id, "DONE")
		s.eventually("kept", `SELECT "their own" FROM task WHERE parent = $1`, id)
	}
}

// TestTheDayAfterASkippedHourHasItsOwnTimeAgain: days count from the chain's origin, as months do.
func TestTheDayAfterASkippedHourHasItsOwnTimeAgain(t *testing.T) {
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

// TestRepetitionsAreCountedInTheZoneThatTheRoleHasNow: a new zone applies from the next repetition,
// after reads, writes and failures.
func TestRepetitionsAreCountedInTheZoneThatTheRoleHasNow(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	for _, zone := range []string{"Asia/Tokyo", "America/New_York"} {
		s.exec(fmt.Sprintf("ALTER DATABASE %s SET TimeZone = '%s'", s.get("SELECT current_database()"), zone))
		for _, input := range []string{"SELECT 1", "CREATE TABLE IF NOT EXISTS effect ()", "SELECT 1/0"} {
			// Across a change of the clocks, a month has another length in each zone.
			id := s.add("input, repeat, active, plan", input, "1 mon", "0", "2026-06-01 12:00:00+00")
			s.eventually("true", "SELECT next IS NOT NULL FROM task WHERE id = $1", id)
			if right := s.get("SELECT n.plan AT TIME ZONE $2 - t.plan AT TIME ZONE $2 = date_trunc('day', n.plan AT TIME ZONE $2 - t.plan AT TIME ZONE $2) FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.id = $1", id, zone); right != "true" {
				t.Errorf("%s in %s: the next comes at %s", input, zone, s.get("SELECT n.plan FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.id = $1", id))
			}
		}
	}
}

// TestAnotherPeriod: a new period of a waiting job counts from the beat before.
func TestAnotherPeriod(t *testing.T) {
	t.Parallel()
	s := play(t)
	first := s.add("input, repeat, active, plan", "SELECT 1", "1 day", "0", s.get("SELECT now() - interval '25 hours'"))
	s.eventually("1", "SELECT count(*) FROM task WHERE parent = $1", first)
	s.exec("UPDATE task SET repeat = '90 min' WHERE parent = $1", first) // the beat before was an hour ago
	if got := s.get("SELECT round(extract(epoch FROM n.plan - t.plan) / 60) FROM task AS t JOIN task AS n ON n.id = t.next"); got != "1530" {
		t.Error("minutes between the two:", got)
	}
	alone := s.add("input, repeat, plan", "SELECT 1", "1 day", s.get("SELECT now() + interval '3 hours'"))
	plan := s.get("SELECT plan FROM task WHERE id = $1", alone)
	s.exec("UPDATE task SET repeat = '1 min' WHERE id = $1", alone)
	if got := s.get("SELECT plan FROM task WHERE id = $1", alone); got != plan {
		t.Error("the first of a chain has moved to", got)
	}
	s.exec("UPDATE task SET repeat = '2 hours', plan = '2100-01-01' WHERE parent = $1", first)
	if got := s.get("SELECT plan = '2100-01-01' FROM task WHERE parent = $1", first); got != "true" {
		t.Error("a plan that is set as well does not stand")
	}
}

// TestRepetitionOfWhatHasNoPlanWaits: like the task itself, it waits until somebody plans it.
func TestRepetitionOfWhatHasNoPlanWaits(t *testing.T) {
	t.Parallel()
	s := play(t)
	for _, columns := range []string{"", ", origin", ", origin, until, catchup", ", drift"} {
		values := map[string]string{", origin": ", 'infinity'", ", origin, until, catchup": ", '-infinity', 'infinity', 3", ", drift": ", true"}[columns]
		first := s.add("input, plan", "SELECT 1/0", "infinity")
		behind := s.inserted(fmt.Sprintf("INSERT INTO task (input, plan, repeat, after%s) VALUES ('SELECT 1', 'infinity', '1 day', '{%d}'%s)", columns, first, values))
		s.exec("UPDATE task SET plan = now() WHERE id = $1", first)
		s.eventually("GONE ERROR:  task %, after which it was to run, has ended as FAIL infinity", `SELECT concat_ws(' ', t.state, replace(t.error, $2, '%'), n.plan)
			FROM task AS t LEFT JOIN task AS n ON n.id = t.next AND n.state = 'PLAN' WHERE t.id = $1`, behind, fmt.Sprint(first))
	}
	for _, columns := range []string{"'infinity', NULL, 0", "'2020-01-01', '-infinity', 3"} {
		id := s.inserted("INSERT INTO task (input, plan, active, repeat, origin, until, catchup) VALUES ('SELECT 1', now(), '1 s', '1 day', " + columns + ")")
		s.eventually("DONE", "SELECT concat_ws(' ', state, error) FROM task WHERE id = $1", id)
	}
}

// inserted is the id of a new task.
func (s *stage) inserted(sql string) (id string) {
	s.t.Helper()
	if err := s.conn.QueryRow(s.t.Context(), sql+" RETURNING id::text", pgx.QueryExecModeSimpleProtocol).Scan(&id); err != nil {
		s.t.Fatal(sql, ": ", err)
	}
	return id
}
