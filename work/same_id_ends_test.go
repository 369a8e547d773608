package work

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestAnotherRowOfTheSameIDEndsNoSeries: in a partitioned table a row that has ended, with the id of
// a job that runs, gets no repetition by that one's end, and does not make it fail.
func TestAnotherRowOfTheSameIDEndsNoSeries(t *testing.T) {
	t.Parallel()
	for what, row := range someOf(map[string]string{
		"one that has a plan":              "(id, state, plan, repeat, stop, notify, on_fail, input) VALUES ($1, 'FAIL', '2020-01-01', '1 day', now(), 'heard', 'SELECT 2', '')",
		"one without a plan":               "(id, state, plan, repeat, stop, input) VALUES ($1, 'FAIL', 'infinity', '1 day', now(), '')",
		"one that has told its repetition": "(id, state, plan, next, overlap, failures, max_failures, stop, input) VALUES ($1, 'FAIL', '2020-01-01', 999999, true, 1, 1, now(), '')",
	}) {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			must(t, s.conn, parts)
			s.exec("CREATE TABLE effect (); SELECT pg_advisory_lock(7)")
			s.serve()
			s.settled()
			s.exec("INSERT INTO task (id, plan, input) VALUES (999999, 'infinity', '')")
			id := s.add(`input, repeat, "group"`, "INSERT INTO effect DEFAULT VALUES; SELECT pg_advisory_xact_lock_shared(7)", "1 day", "job")
			s.becomes(id, "WORK")
			s.exec("INSERT INTO task "+row, id)
			s.exec("SELECT pg_advisory_unlock(7)")
			s.eventually("DONE", `SELECT state FROM task WHERE id = $1 AND "group" = 'job'`, id)
			if got := s.get(`SELECT concat_ws(' ', (SELECT count(*) FROM effect), count(*), count(n.id), min(n."group"), min(n.repeat::text)) FROM task AS t
				LEFT JOIN task AS n ON n.id = t.next AND n.parent = t.id WHERE t.id = $1 AND t."group" = 'job'`, id); got != "1 1 1 job 1 day" {
				t.Error("effects, rows, repetitions: ", got)
			}
			if got := s.get(`SELECT concat_ws(' ', state, error, (SELECT count(*) FROM task WHERE parent = $1)) FROM task WHERE id = $1 AND "group" <> 'job'`, id); got != "FAIL 1" {
				t.Error("the other: ", got)
			}
			if got := s.get("SELECT concat_ws(' ', state, failures) FROM task WHERE id = 999999"); got != "PLAN 0" {
				t.Error("what the other calls its repetition: ", got)
			}
			s.others()
		})
	}
}

// TestWhyThereIsNoRepetitionIsSaidInItsRow alone, whatever other row has its id.
func TestWhyThereIsNoRepetitionIsSaidInItsRow(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	must(t, s.conn, parts)
	s.serve()
	s.settled()
	s.exec("ALTER TABLE task ADD CONSTRAINT odd CHECK (data <> 'odd' OR parent IS NULL)")
	id := s.add("input, plan", "SELECT 1", "infinity")
	s.exec("INSERT INTO task (id, input, plan, active, repeat, data) VALUES ($1, 'SELECT 1', '2020-01-01', '1 s', '1 day', 'odd')", id)
	s.eventually("true", "SELECT error LIKE '%task not active%odd%' FROM task WHERE id = $1 AND data = 'odd'", id)
	if error := s.get("SELECT coalesce(error, 'none') FROM task WHERE id = $1 AND data IS NULL", id); error != "none" {
		t.Error(error)
	}
}

// TestAnotherRowOfTheSameIDHoldsUpNoSuccessor, and does not end one: a task waits for the oldest of
// several with the id that it names.
func TestAnotherRowOfTheSameIDHoldsUpNoSuccessor(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	must(t, s.conn, parts)
	s.exec("SELECT pg_advisory_lock(7)")
	s.serve()
	s.settled()
	for _, row := range []string{
		"(id, state, plan, stop, input) VALUES ($first, 'FAIL', 'infinity', now(), '')", "(id, state, plan, stop, input) VALUES ($first, 'GONE', '2020-01-01', now(), '')",
		"(id, plan, input) VALUES ($first, 'infinity', '')", "(id, plan, after, input) VALUES ($first, '2020-01-01', ARRAY[$behind::int8], '')",
		"(id, state, plan, stop, input) VALUES ($first, 'DONE', '2020-01-01', now(), '')",
	} {
		first := s.add(`input, "group"`, "SELECT pg_advisory_xact_lock_shared(7)", "real")
		s.becomes(first, "WORK")
		behind := s.add(`input, "group", after`, "SELECT 1", "behind", []int64{first})
		s.eventually("true", "SELECT awaits = $1 FROM task WHERE id = $2", first, behind)
		s.exec("INSERT INTO task " + strings.NewReplacer("$first", fmt.Sprint(first), "$behind", fmt.Sprint(behind)).Replace(row))
		one, other := s.add("input, plan", "SELECT 1", "infinity"), int64(0)
		other = s.add("input, after", "SELECT 1", []int64{one})
		s.exec("UPDATE task SET after = ARRAY[$2::int8] WHERE id = $1", one, other)
		s.eventually("2", "SELECT count(*) FROM task WHERE id IN ($1, $2) AND error LIKE '%cycle%'", one, other) // all that waits has been looked at
		if got := s.get("SELECT concat_ws(' ', state, error) FROM task WHERE id = $1", behind); got != "PLAN" {
			t.Error(row, " before the end: ", got)
		}
		s.exec("SELECT pg_advisory_unlock(7)")
		s.eventually("DONE", `SELECT state FROM task WHERE id = $1 AND "group" = 'real'`, first)
		s.becomes(behind, "DONE")
		s.exec("SELECT pg_advisory_lock(7)")
	}
}

// TestARoleWaitsForItsOwnTask: where a task names the id of several, it means that of its own role.
func TestARoleWaitsForItsOwnTask(t *testing.T) {
	t.Parallel()
	c := founded(t, func(c *company) {
		c.must("postgres", parts+"; ALTER TABLE task OWNER TO $serving; ALTER TABLE p1 OWNER TO $serving; ALTER TABLE p2 OWNER TO $serving; ALTER TABLE p3 OWNER TO $serving; ALTER TABLE p4 OWNER TO $serving")
	})
	c.serve()
	c.settled()
	c.exec(c.named("GRANT SELECT, INSERT, UPDATE ON task TO $alice, $bob; GRANT USAGE ON SEQUENCE task_id_seq TO $alice, $bob; GRANT $bob TO $serving"))
	first := c.asks(c.alice, "SELECT 1", "plan", "'infinity'")
	behind := c.asks(c.alice, "SELECT 1", "after", fmt.Sprintf("'{%d}'", first), `"delete"`, "false")
	c.must(c.bob, fmt.Sprintf("INSERT INTO task (id, input, plan, active, created) VALUES (%d, 'SELECT 1', '2020-01-01', '1 s', '2020-01-01')", first))
	c.eventually("GONE", "SELECT state FROM task WHERE id = $1 AND role = $2", first, c.bob)
	c.must(c.alice, fmt.Sprintf("UPDATE task SET plan = now() WHERE id = %d AND role = current_user", first))
	c.becomes(behind, "DONE")
}

// TestTwoOfOneIDThatEndTogether have a repetition each, and no more.
func TestTwoOfOneIDThatEndTogether(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	must(t, s.conn, parts)
	s.serve()
	s.settled()
	id := s.add("input, plan", "SELECT 1", "infinity")
	s.exec(`INSERT INTO task (id, input, "group", plan, active, repeat)
		SELECT $1::int8, 'SELECT 1', 'g' || i, timestamptz '2020-06-01' + i * interval '1 year', '1 s', '1 day' FROM generate_series(1, 2) AS i`, id)
	s.eventually("2", "SELECT count(*) FROM task WHERE id = $1 AND error LIKE '%not active' AND next IS NOT NULL", id)
	if groups := s.get(`SELECT string_agg("group", ' ' ORDER BY "group") FROM task WHERE parent = $1`, id); groups != "g1 g2" {
		t.Error(groups)
	}
}

// TestAnotherRowOfTheSameIDTakesNoRepetitionBack: it is deleted where it has no beat before until;
// who has that id as next keeps it.
func TestAnotherRowOfTheSameIDTakesNoRepetitionBack(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	must(t, s.conn, parts)
	s.serve()
	s.settled()
	id := s.add("input, repeat", "SELECT 1", "1 day")
	s.becomes(id, "DONE")
	next := s.get("SELECT next FROM task WHERE id = $1", id)
	s.exec("INSERT INTO task (id, parent, input, cron, until, origin) VALUES ($1::text::int8, $2, 'SELECT 1', '@daily', '2020-01-01', '2020-01-01')", next, id)
	s.eventually("0", "SELECT count(*) FROM task WHERE cron IS NOT NULL")
	if got := s.get("SELECT coalesce(next, 0) FROM task WHERE id = $1", id); got != next {
		t.Errorf("it has %s, and had %s", got, next)
	}
}

// TestRepetitionOfWhatHasNoPlanWaits until somebody plans it, as that did.
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
