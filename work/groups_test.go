package work

import (
	"fmt"
	"testing"
	"time"
)

// marker waits until a task that was inserted after all others has ended: the others would have
// started before it.
func (s *stage) marker() {
	s.t.Helper()
	s.becomes(s.add(`input, "group"`, "SELECT 1", "marker"), "DONE", "")
}

// TestALimitHoldsForWhatComesAfterIt: a pause is known before a task starts that was inserted after
// it. The task starts when the pause ends.
func TestALimitHoldsForWhatComesAfterIt(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"notify", "poll"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s := play(t, func(target *Target) {
				if way == "poll" {
					target.Wake = "poll"
				}
			})
			s.becomes(s.add(`input, "group"`, "SELECT 1", "open"), "DONE", "") // a session is open now
			for i := range 25 {
				group := fmt.Sprint("g", i)
				s.exec(`INSERT INTO task_group ("group", paused) VALUES ($1, true)`, group)
				s.exec(`INSERT INTO task ("group", input) VALUES ($1, 'SELECT 1')`, group)
			}
			s.marker()
			if left := s.get(`SELECT count(*) FROM task WHERE "group" LIKE 'g%' AND state = 'PLAN'`); left != "25" {
				t.Error("of 25 paused tasks wait ", left)
			}
			s.exec(`UPDATE task_group SET paused = false WHERE "group" < 'g2'`)
			s.exec(`DELETE FROM task_group`)
			s.eventually("0", `SELECT count(*) FROM task WHERE state = 'PLAN'`)
		})
	}
}

// TestAChangeThatIsNotCommittedYetHoldsFromItsCommitOn: although the leader looked before that.
func TestAChangeThatIsNotCommittedYetHoldsFromItsCommitOn(t *testing.T) {
	t.Parallel()
	s := play(t)
	changer := s.connect()
	for i := range 5 {
		group := fmt.Sprint("g", i)
		must(t, changer, fmt.Sprintf(`BEGIN; INSERT INTO task_group ("group", paused) VALUES ('%s', true)`, group))
		s.becomes(s.add(`input, "group"`, "SELECT 1", group), "DONE", "") // the leader has looked
		must(t, changer, "COMMIT")
		id := s.add(`input, "group"`, "SELECT 1", group)
		s.marker()
		if state := s.state(id); state != "PLAN" {
			t.Error("inserted after the commit, and is ", state)
		}
	}
}

// TestALimitHoldsForWhatWaits: and cancels no running task.
func TestALimitHoldsForWhatWaits(t *testing.T) {
	t.Parallel()
	s := play(t)
	holder := s.connect()
	must(t, holder, "SELECT pg_advisory_lock(7)")
	first := s.running("SELECT pg_advisory_xact_lock(7)")
	second := s.add("input", "SELECT 1")
	s.exec(`INSERT INTO task_group ("group", slots) VALUES ('gr%', 0), ('%', 5)`)
	s.saysWhy(second, `waits for slots, of which 1 are taken of 0, of row "gr%" of .*task_group.*; waits for its lane, .*`)
	must(t, holder, "SELECT pg_advisory_unlock(7)")
	s.becomes(first, "DONE", "")
	s.saysWhy(second, `waits for slots, of which 0 are taken of 0, of row "gr%" of public.task_group`)
	s.exec("TRUNCATE task_group")
	s.becomes(second, "DONE", "")
}

// TestSlotsOfAGroup: no more tasks run than the group has slots, whatever max says.
func TestSlotsOfAGroup(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task_group ("group", slots) VALUES ('a%', 2)`)
	must(t, s.connect(), "SELECT pg_advisory_lock(7)")
	for range 4 {
		s.add(`input, "group", max`, "SELECT pg_advisory_xact_lock_shared(7)", "a1", 100)
		s.add(`input, "group", max`, "SELECT pg_advisory_xact_lock_shared(7)", "a2", 100)
	}
	running := `SELECT string_agg("group" || ' ' || n, ', ' ORDER BY "group") FROM (SELECT "group", count(*) AS n FROM task WHERE state = 'WORK' GROUP BY 1) AS r`
	s.eventually("a1 2, a2 2", running)
	s.marker()
	s.eventually("a1 2, a2 2", running)
	s.exec("UPDATE task_group SET slots = 3")
	s.eventually("a1 3, a2 3", running)
}

// TestRateOfAGroup: no more tasks start in any period, in one term or across two.
func TestRateOfAGroup(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task_group ("group", rate, per) VALUES ('a', 3, '300 ms')`)
	s.exec(`INSERT INTO task ("group", max, input, delete) SELECT 'a', 9, 'SELECT 1', false FROM generate_series(1, 15)`)
	s.eventually("true", `SELECT count(*) >= 4 FROM task WHERE state = 'DONE'`)
	id := s.get("SELECT max(id) FROM task")
	s.eventually("true", `SELECT task_why($1) ~ '^waits for rate, which lets 3 start per 00:00:00.3, of row a of|^ended' FROM (SELECT) AS x`, id)
	s.drain()
	s.serve()
	s.eventually("15", `SELECT count(*) FROM task WHERE state = 'DONE'`)
	if least := s.get(`SELECT min(apart) >= '300 ms' FROM (SELECT start - lag(start, 3) OVER (ORDER BY start) AS apart FROM task) AS a`); least != "true" {
		t.Error(s.get(`SELECT string_agg(to_char(start, 'SS.US'), ' ' ORDER BY start) FROM task`))
	}
}

// TestAPauseSurvivesATakeover: and its end counts as the plan of the tasks that it held.
func TestAPauseSurvivesATakeover(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task_group ("group", paused, note) VALUES ('a', true, E'until the audit\nis over')`)
	plan := time.Now().Add(-2 * time.Hour)
	held := s.add(`input, "group", plan`, "SELECT 1", "a", plan)
	s.becomes(s.add(`input, plan`, "SELECT 1", plan), "GONE")
	s.saysWhy(held, `waits for the pause of row a of public.task_group, set by postgres \(until the audit is over\), which ends when somebody sets paused to false`)
	s.drain()
	s.serve()
	s.becomes(s.add(`input, plan`, "SELECT 1", plan), "GONE")
	if state := s.state(held); state != "PLAN" {
		t.Error("a paused task is ", state)
	}
	s.drain() // resumed while nobody leads
	s.exec(`UPDATE task_group SET paused = false`)
	s.serve()
	s.becomes(held, "DONE", "")
	short := s.add(`input, "group", plan, active`, "SELECT 1", "a", plan, "1 us")
	s.becomes(short, "GONE")
}

// TestAPauseEndsByItself: the tasks that it held start at until.
func TestAPauseEndsByItself(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task_group ("group", paused, until) VALUES ('a', true, now() + interval '1 hour')`)
	id := s.add(`input, "group", plan, delete`, "SELECT 1", "a", time.Now().Add(-2*time.Hour), false)
	s.saysWhy(id, `waits for the pause of row a of public.task_group, set by postgres.*, which ends at `+moments)
	s.exec(`UPDATE task_group SET until = now() + interval '500 ms'`)
	s.becomes(id, "DONE")
	if early := s.get(`SELECT t.start < g.until FROM task AS t, task_group AS g`); early != "false" {
		t.Error("started before the end of the pause")
	}
}

// TestNoTaskThatIsNewerThanAPauseIsGivenUp: even if its active has passed and the leader looks at
// it at once.
func TestNoTaskThatIsNewerThanAPauseIsGivenUp(t *testing.T) {
	t.Parallel()
	s := play(t)
	for i := range 100 {
		s.exec(fmt.Sprintf("INSERT INTO task_group (\"group\", paused) VALUES ('g%d', true)", i))
		s.exec(fmt.Sprintf("INSERT INTO task (\"group\", plan, input) VALUES ('g%d', now() - interval '2 hours', 'SELECT 1')", i))
	}
	s.marker()
	if n := s.get("SELECT count(*) FROM task WHERE \"group\" LIKE 'g%' AND state <> 'PLAN'"); n != "0" {
		t.Error(n, " of 100 tasks are given up")
	}
}
