package work

import (
	"testing"

	"pgtaskd/work/run"
)

// TestShortQueriesThatTurnOutLongKeepNoOtherWaiting: queries that used to be quick, and now wait,
// leave room for other tasks.
func TestShortQueriesThatTurnOutLongKeepNoOtherWaiting(t *testing.T) {
	t.Parallel()
	s := leading(t, func(t *Target) { t.Run = run.InstantMost + 8 })
	quick := func(n int) { // one lane each
		s.exec(`INSERT INTO task (input, data, "group") SELECT $1, 'quick', 'g' || i FROM generate_series(1, $2) AS i`, waits, n)
		s.eventually("0", "SELECT count(*) FROM task WHERE data = 'quick' AND state <> 'DONE'")
	}
	quick(100) // the leader then knows these queries
	s.exec("UPDATE task SET data = 'known'")
	quick(1000)
	holder := s.connect()
	s.tell(holder, "SELECT pg_advisory_lock(7)")
	s.exec(`INSERT INTO task (input, data, "group") SELECT $1, 'wait', 'w' || i FROM generate_series(1, $2) AS i`, waits, run.InstantMost+4)
	s.eventually("20", "SELECT count(*) FROM task WHERE data = 'wait' AND state = 'WORK'")
	quick(100) // there is room for some
	s.tell(holder, "SELECT pg_advisory_unlock(7)")
	s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE'")
	quick(100) // queries that waited do not count any more
}

// TestALongerTaskStartsBesideManyShortQueries: a few sessions are enough for queries of
// microseconds. Other tasks get the rest of run.
func TestALongerTaskStartsBesideManyShortQueries(t *testing.T) {
	t.Parallel()
	s := leading(t, func(t *Target) { t.Run = 2 * run.InstantMost })
	leave := s.loop.runs.Profiles.Crowd("SELECT 1")
	// More than Dispatch looks at to find one that fits.
	s.exec(`INSERT INTO task (input, "group") SELECT 'SELECT 1', 'g' || i FROM generate_series(1, $1) AS i`, 20)
	s.becomes(s.add(`input, "group"`, "SELECT pg_sleep(0)", "slow"), "DONE")
	if n := s.get("SELECT count(*) FROM task WHERE state = 'DONE'"); n != "1" {
		t.Error(n, "have ended, though there are enough such queries")
	}
	leave()
	s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE'")
}

// TestRemoteQueries: a query that is known to be short runs in a transaction on a remote, without a
// mark. This holds neither where an effect would not be seen, nor for other tasks.
func TestRemoteQueries(t *testing.T) {
	t.Parallel()
	elsewhere := func(prepare string) string {
		s := prepared(t)
		s.exec(prepare)
		return s.dsn
	}
	plain, foreign := elsewhere("SELECT"), elsewhere("CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER other FOREIGN DATA WRAPPER nothing")
	s := leading(t, func(t *Target) { t.Run = 2 })
	s.exec(`CREATE TABLE mark (id int8);
		CREATE FUNCTION marks() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.mark VALUES (NEW.id); RETURN NULL; END$$;
		CREATE TRIGGER marks AFTER UPDATE ON task FOR EACH ROW WHEN (NEW.state = 'WORK' AND NEW.xact IS NULL) EXECUTE FUNCTION marks()`)
	const unmarked = "FROM task WHERE id NOT IN (SELECT id FROM mark)"
	s.until("queries without a mark", func() bool { // on a busy machine not even these are short
		s.exec(`INSERT INTO task ("group", remote, input, rerun, save)
			SELECT g, CASE g WHEN 'foreign' THEN $1 ELSE $2 END, CASE g WHEN 'write' THEN 'CREATE TEMP TABLE a ()' ELSE $3 END, g <> 'once', g = 'save'
			FROM unnest('{read,foreign,write,once,save}'::text[]) AS g, generate_series(1, 50) AS i`, foreign, plain, "SELECT current_setting('pg_task.id')")
		s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE'")
		return s.get("SELECT count(*) "+unmarked) != "0"
	}, func() string { return s.get("SELECT count(*) FROM task") })
	s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE' OR output <> CASE \"group\" WHEN 'write' THEN 'CREATE TABLE' ELSE id::text END OR attempt > 1 OR start < plan OR stop < start")
	if got := s.get(`SELECT string_agg("group", ' ') FROM (SELECT DISTINCT "group" ` + unmarked + `) AS t`); got != "read" {
		t.Error("not marked: ", got)
	}
	if ok := s.get(`SELECT count(*) >= 19 FROM task WHERE "group" IN ('read', 'once', 'save') AND id IN (SELECT id FROM mark)
		AND start < (SELECT min(start) ` + unmarked + `)`); ok != "true" {
		t.Error("fewer than 20 have told what such queries are like")
	}
	if n := s.get("SELECT count(*) FROM task WHERE NOT atomic"); n != "0" {
		t.Error(n, "are not exactly once")
	}
}
