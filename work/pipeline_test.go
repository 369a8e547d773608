package work

import (
	"strings"
	"testing"
	"time"
)

// anywhere runs a test of pipelines with tasks in the target's own database, and with remote ones.
func anywhere(t *testing.T, test func(*testing.T, func(*testing.T, ...func(*Target)) *led)) {
	t.Parallel()
	t.Run("own", func(t *testing.T) {
		t.Parallel()
		test(t, leading)
	})
	t.Run("remote", func(t *testing.T) {
		t.Parallel()
		test(t, func(t *testing.T, change ...func(*Target)) *led {
			s := leading(t, change...)
			s.exec("ALTER TABLE task ALTER remote SET DEFAULT " + "'" + strings.ReplaceAll(s.dsn, "'", "''") + "'")
			return s
		})
	})
}

// TestPipelinesKeepOrder: pipelined tasks run as others do, each lane in its order, each task once.
func TestPipelinesKeepOrder(t *testing.T) { anywhere(t, testPipelinesKeepOrder) }

func testPipelinesKeepOrder(t *testing.T, lead func(*testing.T, ...func(*Target)) *led) {
	s := lead(t, func(t *Target) { t.Run = 3 })
	queued := false
	s.exec(`INSERT INTO task (input, data, "group", priority) SELECT $1, 'quick', 'g' || i % 20, i % 3 FROM generate_series(1, 2000) AS i`, waits)
	s.until("done", func() bool {
		queued = queued || s.queued() > 0
		return s.get("SELECT count(*) FROM task WHERE state = 'DONE' AND output = 'quick' AND attempt = 1 AND start <= stop AND pid IS NOT NULL") == "2000"
	})
	if !queued {
		t.Error("nothing has queued")
	}
	// Each session with a remote has measured the difference of the clocks for itself.
	if odd := s.get(`SELECT count(*) FROM (
			SELECT start, lag(stop) OVER lane - CASE WHEN remote > '' THEN interval '10 ms' ELSE '0' END AS before
			FROM task WINDOW lane AS (PARTITION BY "group" ORDER BY priority DESC, id)
		) AS t WHERE start < before`); odd != "0" {
		t.Error(odd, "tasks have begun before the one before them in their lane was over")
	}
}

// TestPipelinesInWideLanes: a lane that allows several tasks at once never runs more, and tasks
// after a long one do not wait for it.
func TestPipelinesInWideLanes(t *testing.T) { anywhere(t, testPipelinesInWideLanes) }

func testPipelinesInWideLanes(t *testing.T, lead func(*testing.T, ...func(*Target)) *led) {
	s := lead(t, func(t *Target) { t.Run = 8 })
	s.exec(`ALTER TABLE task ALTER max SET DEFAULT 2`)
	first, others, release := s.stuck("wide")
	s.becomes(first, "WORK")
	s.done(others...)
	release()
	s.done(first)
	if most := s.get(`SELECT max(n) FROM (
			SELECT sum(way) OVER (ORDER BY at, way) AS n FROM task, LATERAL (VALUES (start, 1), (stop, -1)) AS moment (at, way)
		) AS t`); most != "2" && most != "3" {
		t.Error(most, "ran at once")
	}
}

// TestEffectsOfPipelines: a query that turns out to write has its effects once, and the other
// queries get their own results.
func TestEffectsOfPipelines(t *testing.T) { anywhere(t, testEffectsOfPipelines) }

func testEffectsOfPipelines(t *testing.T, lead func(*testing.T, ...func(*Target)) *led) {
	s := lead(t, func(t *Target) { t.Run = 2 })
	s.exec("CREATE TABLE effect (id int8)")
	s.exec("CREATE FUNCTION writes() RETURNS text LANGUAGE sql AS $$INSERT INTO public.effect VALUES (current_setting('pg_task.id')::int8) RETURNING 'wrote'$$")
	s.exec(`INSERT INTO task (input, data, "group", save)
		SELECT 'SELECT CASE current_setting(''pg_task.data'') WHEN ''write'' THEN writes() ELSE current_setting(''pg_task.id'') END',
			CASE WHEN i % 40 = 20 THEN 'write' ELSE 'quick' END, 'g' || i % 4, i % 4 > 1
		FROM generate_series(1, 400) AS i`)
	s.eventually("400", "SELECT count(*) FROM task WHERE state = 'DONE' AND attempt = 1 AND output = CASE data WHEN 'write' THEN 'wrote' ELSE id::text END")
	if odd := s.get("SELECT count(*) FROM task FULL JOIN effect USING (id) WHERE (data = 'write') IS DISTINCT FROM (effect.id IS NOT NULL)"); odd != "0" {
		t.Error(odd)
	}
	if n := s.get("SELECT count(*) FROM effect"); n != "10" {
		t.Error(n, "effects")
	}
}

// TestPipelineIsCalledBack: a query takes long, although similar ones were quick. The tasks after
// it go on elsewhere.
func TestPipelineIsCalledBack(t *testing.T) { anywhere(t, testPipelineIsCalledBack) }

func testPipelineIsCalledBack(t *testing.T, lead func(*testing.T, ...func(*Target)) *led) {
	s := lead(t, func(t *Target) { t.Run = 2 })
	long := s.add(`input, "group"`, "SELECT pg_sleep(60)", "long") // all slots are in use
	s.becomes(long, "WORK")
	first, others, release := s.stuck("a", "b", "c", "d")
	s.becomes(first, "WORK")
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", long)
	var elsewhere, behind []int64
	for i, id := range others {
		if i%4 == 3 {
			behind = append(behind, id)
		} else {
			elsewhere = append(elsewhere, id)
		}
	}
	s.done(elsewhere...)
	if n := s.get("SELECT count(*) FROM task WHERE id = ANY ($1) AND state = 'PLAN' AND start IS NULL", behind); n != "4" {
		t.Error("of the lane's next tasks wait: ", n)
	}
	release()
	s.done(append(behind, first)...)
}

// TestLatePipeline: tasks that were sent after a long one in the same lane wait for their turn
// again. They may be stopped, deleted, or come after a more urgent task.
func TestLatePipeline(t *testing.T) { anywhere(t, testLatePipeline) }

func testLatePipeline(t *testing.T, lead func(*testing.T, ...func(*Target)) *led) {
	s := lead(t)
	first, others, release := s.stuck("a")
	s.becomes(first, "WORK")
	s.until("called back", func() bool { return s.queued() == 0 })
	s.exec("BEGIN") // the leader sees all at once: three tasks wait instead of four
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", others[0])
	s.exec("DELETE FROM task WHERE id = $1", others[1])
	urgent := s.add(`input, data, "group", priority`, waits, "quick", "a", 5)
	s.exec("COMMIT")
	s.until("the urgent task is known, and the two are no longer", func() bool { _, read, ready := s.loop.runs.Lanes.Load(); return read+ready == 3 })
	release()
	s.done(first, urgent, others[2], others[3])
	if s.state(others[0]) != "STOP" || s.state(others[1]) != "" || s.get("SELECT start IS NULL AND stop IS NULL FROM task WHERE id = $1", others[0]) != "true" {
		t.Error(s.row(others[0], "*"), s.state(others[1]))
	}
	if s.get("SELECT (SELECT start FROM task WHERE id = $1) < (SELECT start FROM task WHERE id = $2)", urgent, others[2]) != "true" {
		t.Error("the urgent task came later")
	}
}

// TestPipelineIsCut: somebody ends the running task. The tasks after it run as usual.
func TestPipelineIsCut(t *testing.T) { anywhere(t, testPipelineIsCut) }

func testPipelineIsCut(t *testing.T, lead func(*testing.T, ...func(*Target)) *led) {
	for name, by := range map[string]struct{ state, sql string }{
		"terminated": {"FAIL", "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND $1 > 0"},
		"cancelled":  {"FAIL", "SELECT pg_cancel_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND $1 > 0"},
		"stopped":    {"STOP", "UPDATE task SET state = 'STOP' WHERE id = $1"},
		"deleted":    {"", "DELETE FROM task WHERE id = $1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := lead(t)
			first, others, release := s.stuck("a")
			defer release()
			s.exec(strings.Replace(by.sql, "granted", "granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())", 1), first)
			s.becomes(first, by.state)
			s.done(others...)
			s.others()
		})
	}
}

// TestPipelineIsDrained: a drain gives back the task that it cancels, and the tasks after it.
func TestPipelineIsDrained(t *testing.T) { anywhere(t, testPipelineIsDrained) }

func testPipelineIsDrained(t *testing.T, lead func(*testing.T, ...func(*Target)) *led) {
	s := lead(t, func(t *Target) { t.Grace = 300 * time.Millisecond })
	first, others, release := s.stuck("a")
	defer release()
	s.drain()
	if n := s.get("SELECT count(*) FROM task WHERE id = ANY ($1) AND state = 'PLAN' AND attempt = 0 AND interrupted = 0", append(others, first)); n != "5" {
		t.Error(n, s.get("SELECT json_agg(json_build_array(id, state, attempt, error)) FROM task WHERE id >= $1", first))
	}
}
