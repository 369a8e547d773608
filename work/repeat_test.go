package work

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgtaskd/server/servertest"
)

// TestRepetitionsAgainstPostgreSQL compares the plans of repetitions with what PostgreSQL's own
// arithmetic gives when it is asked for one period after the other, through both ways in which an
// end is written.
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
			// The first group's ends are written in their own transactions, the second's
			// afterwards.
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

// TestRepetitionWithDrift counts from the end of the run.
func TestRepetitionWithDrift(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("INSERT INTO task (input, active, repeat, plan, drift) SELECT i, '0', '1 day', now() - interval '10 days', true FROM unnest(ARRAY['SELECT 1', 'SELECT 1/0']) AS i")
	s.eventually("2", "SELECT count(*) FROM task WHERE parent IS NULL AND next IS NOT NULL")
	s.eventually("0", "SELECT count(*) FROM task AS t JOIN task AS n ON n.id = t.next WHERE abs(extract(epoch FROM n.plan - t.stop - interval '1 day')) > 0.01")
}
