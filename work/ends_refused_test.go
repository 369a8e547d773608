package work

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// refusingTables are tables that refuse an end whose output, or error, is "too much".
var refusingTables = map[string]refusing{
	"a CHECK on the output":                     {ddl: "ALTER TABLE task ADD CHECK (output IS NULL OR output NOT LIKE '%too much%')"},
	"a CHECK that knows no output":              {ddl: "ALTER TABLE task ADD CHECK (output IS NULL)"},
	"a short type":                              {ddl: "ALTER TABLE task ALTER output TYPE varchar(100)"},
	"a short domain":                            {ddl: "CREATE DOMAIN brief AS varchar(100); ALTER TABLE task ALTER output TYPE brief, ALTER error TYPE brief"},
	"a shorter type":                            {ddl: "ALTER TABLE task ALTER output TYPE varchar(40), ALTER error TYPE varchar(40)"},
	"a domain that checks":                      {ddl: "CREATE DOMAIN brief AS text CHECK (length(VALUE) < 100); ALTER TABLE task ALTER output TYPE brief"},
	"a CHECK on the error":                      {ddl: "ALTER TABLE task ADD CHECK (error IS NULL OR length(error) < 50), ADD CHECK (output IS NULL OR length(output) < 50)"},
	"a CHECK that knows no error":               {ddl: "ALTER TABLE task ADD CHECK (output IS NULL), ADD CHECK (error IS NULL), ADD CHECK (sqlstate IS NULL)"},
	"a CHECK on the SQLSTATE":                   {ddl: "ALTER TABLE task ADD CHECK (output IS NULL), ADD CHECK (sqlstate IS NULL)"},
	"a CHECK on the state":                      {ddl: "ALTER TABLE task ADD CHECK (state <> 'DONE' OR output NOT LIKE '%too much%')"},
	"an index":                                  {ddl: "CREATE INDEX ON task (output)"},
	"an index on both":                          {ddl: "CREATE INDEX ON task (output, error)"},
	"a unique index":                            {ddl: "CREATE UNIQUE INDEX ON task (right(output, 8)); INSERT INTO task (state, output, input, delete) SELECT 'DONE', 'too much', '', false", sql: "SELECT 'too much'"},
	"a foreign key":                             {ddl: "CREATE TABLE word (word text PRIMARY KEY); INSERT INTO word VALUES ('1'), ('other'); ALTER TABLE task ADD FOREIGN KEY (output) REFERENCES word"},
	"a deferred foreign key":                    {ddl: "CREATE TABLE word (word text PRIMARY KEY); INSERT INTO word VALUES ('1'), ('other'); ALTER TABLE task ADD FOREIGN KEY (output) REFERENCES word DEFERRABLE INITIALLY DEFERRED"},
	"a row that does not fit":                   {ddl: "ALTER TABLE task ALTER output SET STORAGE PLAIN"},
	"a generated column that overflows":         {ddl: "ALTER TABLE task ADD mine int2 GENERATED ALWAYS AS (length(output)::int2) STORED"},
	"a generated column of the error":           {ddl: "ALTER TABLE task ADD mine int4 GENERATED ALWAYS AS (CASE WHEN error <> '' THEN 1 / (length(error) - length(error)) END) STORED, ADD CHECK (output IS NULL OR length(output) < 50)"},
	"a trigger that raises":                     {ddl: mine("BEFORE", "RAISE 'mine'")},
	"a trigger that raises after":               {ddl: mine("AFTER", "RAISE 'mine'")},
	"a trigger that raises at COMMIT":           {ddl: strings.NewReplacer("CREATE TRIGGER", "CREATE CONSTRAINT TRIGGER", "ON task FOR", "ON task DEFERRABLE INITIALLY DEFERRED FOR").Replace(mine("AFTER", "RAISE 'mine'"))},
	"a trigger that raises what the server may": {ddl: mine("BEFORE", "RAISE 'mine' USING ERRCODE = '42501'")},
	"a trigger that is silent":                  {ddl: mine("BEFORE", "RETURN NULL")},
	"a trigger that keeps the row":              {ddl: mine("BEFORE", "RETURN OLD")},
	"a trigger that updates the row":            {ddl: mine("BEFORE", "UPDATE public.task SET data = 'mine' WHERE id = NEW.id")},
	"a trigger that deletes the row":            {ddl: mine("AFTER", "DELETE FROM public.task WHERE id = NEW.id"), gone: true},
	"a trigger that deletes the row before":     {ddl: mine("BEFORE", "DELETE FROM public.task WHERE id = NEW.id")},
	"a partition that is not there": {
		ddl: "DROP TABLE task; CREATE TABLE task (id bigserial, state state NOT NULL DEFAULT 'PLAN', input text NOT NULL, output text) PARTITION BY LIST (left(output, 6)); " +
			"CREATE TABLE task_most PARTITION OF task FOR VALUES IN (NULL, '1', 'other')",
	},
	"a partition whose constraint refuses": {
		ddl: "DROP TABLE task; CREATE TABLE task (id bigserial, state state NOT NULL DEFAULT 'PLAN', input text NOT NULL, output text) PARTITION BY LIST (state); " +
			"CREATE TABLE task_done PARTITION OF task FOR VALUES IN ('DONE'); CREATE TABLE task_most PARTITION OF task DEFAULT; ALTER TABLE task_done ADD CHECK (length(output) < 50)",
	},
	"a policy": {ddl: "CREATE POLICY mine ON task USING (true) WITH CHECK (output IS NULL OR output NOT LIKE '%too much%')", policy: true},
}

type refusing struct {
	ddl    string
	sql    string // the input whose result is refused
	gone   bool   // the row is gone, and the effects stay
	policy bool   // policies apply to the target's role
}

// mine is the SQL of a trigger that acts on an end whose output contains "too much".
func mine(when, do string) string {
	return "CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.output LIKE '%too much%' THEN " + do + "; END IF; RETURN NEW; END$$; " +
		"CREATE TRIGGER mine " + when + " UPDATE ON task FOR EACH ROW EXECUTE FUNCTION mine()"
}

// TestEndsThatTheTableRefuses: whatever refuses the end, the task is DONE after one run, and its
// effects stay. The row shows as much as it can take, the log names the refusal, and the next task
// of the lane runs.
func TestEndsThatTheTableRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range someOf(refusingTables) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			elsewhere := stageOn(t, servertest.Database(t))
			elsewhere.exec("CREATE TABLE ran (what text); GRANT ALL ON ran TO PUBLIC")
			s := c.serve(t, func(target *Target) { target.Remotes = map[string]string{"there": elsewhere.dsn} })
			if c.sql == "" {
				c.sql = "SELECT 'too much ' || string_agg(md5(n::text), '') FROM generate_series(1, 1100) AS n"
			}
			ids := map[string]int64{
				"reads":              s.add("input", c.sql),
				"writes":             s.add("input", "INSERT INTO ran VALUES ('writes'); "+c.sql),
				"lasts":              s.add("input", "INSERT INTO ran SELECT 'lasts' FROM pg_sleep(0.3); "+c.sql),
				"has retries":        s.add("input, retry, backoff", "INSERT INTO ran VALUES ('has retries'); "+c.sql, 2, "1 ms"),
				"repeats itself":     s.add("input, repeat", "INSERT INTO ran VALUES ('repeats itself'); "+c.sql, "1 day"),
				"commits":            s.add("input, retry, backoff", "INSERT INTO ran VALUES ('commits'); COMMIT; "+c.sql, 3, "1 ms"),
				"commits, repeats":   s.add("input, repeat", "INSERT INTO ran VALUES ('commits, repeats'); COMMIT; "+c.sql, "1 day"),
				"is remote":          s.add("input, remote, retry, backoff", c.sql, "there", 2, "1 ms"),
				"is remote, writes":  s.add("input, remote, retry, backoff", "INSERT INTO ran VALUES ('is remote, writes'); "+c.sql, "there", 2, "1 ms"),
				"is remote, repeats": s.add("input, remote, repeat", "INSERT INTO ran VALUES ('is remote, repeats'); "+c.sql, "there", "1 day"),
			}
			fails := s.add("input, retry, backoff", "INSERT INTO ran VALUES ('fails'); DO $$BEGIN RAISE '%', 'too much ' || repeat('x', 200); END$$", 1, "1 ms")
			for what, id := range ids {
				s.refused(what, id, c)
			}
			s.becomes(fails, "FAIL")
			if got := s.get("SELECT attempt FROM task WHERE id = $1", fails); got != "2" {
				t.Error("what fails by itself had ", got, " tries")
			}
			s.eventually("commits; commits, repeats; has retries; lasts; repeats itself; writes", "SELECT string_agg(what, '; ' ORDER BY what) FROM ran")
			elsewhere.eventually("is remote, repeats; is remote, writes", "SELECT string_agg(what, '; ' ORDER BY what) FROM ran")
			s.becomes(s.add("input, delete", "SELECT 1", false), "DONE")
		})
	}
}

// serve serves a table that refuses ends.
func (c refusing) serve(t *testing.T, change func(*Target)) *stage {
	t.Helper()
	if c.policy {
		s := guarded(t, c.ddl, change)
		s.exec("CREATE TABLE ran (what text); GRANT ALL ON ran TO PUBLIC")
		return s
	}
	s := prepared(t, change)
	s.installed()
	s.exec("CREATE TABLE ran (what text)")
	s.exec(c.ddl)
	s.serve()
	s.settled()
	return s
}

// refused waits for the end that the table has refused, and checks the row.
func (s *stage) refused(what string, id int64, c refusing) {
	s.t.Helper()
	if c.gone {
		s.becomes(id, "")
		return
	}
	s.becomes(id, "DONE")
	if row := s.row(id, "attempt, output, error, sqlstate"); row != `{"attempt":1,"output":null,"error":null,"sqlstate":null}` {
		s.t.Error(what, row)
	}
	if repeats := s.get("SELECT repeat > '0' FROM task WHERE id = $1", id); repeats == "true" && s.get("SELECT count(*) FROM task WHERE parent = $1", id) != "1" {
		s.t.Error(what, " does not repeat itself")
	}
	s.says("the table refuses the end of a task", fmt.Sprintf(`"id":%d`, id))
}

// TestPreparationsThatTheTableRefuses: a task whose row cannot be prepared is not committed, and
// FAILs with the reason. A task that writes nothing needs no preparation.
func TestPreparationsThatTheTableRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ do, says string }{
		"raises":          {"RAISE 'mine'", "mine"},
		"conflicts":       {"RAISE 'mine' USING ERRCODE = '40001'", "mine"},
		"is silent":       {"RETURN NULL", "a trigger of the table keeps the row as it is"},
		"keeps the row":   {"RETURN OLD", "a trigger of the table keeps the row as it is"},
		"updates the row": {"UPDATE public.task SET data = 'mine' WHERE id = NEW.id", "already modified"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			s.exec("CREATE TABLE effect (id int8)")
			s.exec("CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN " + c.do + "; RETURN NEW; END$$; " +
				"CREATE TRIGGER mine BEFORE UPDATE ON task FOR EACH ROW WHEN (NEW.xact IS NOT NULL AND NEW.data = 'odd') EXECUTE FUNCTION mine()")
			odd := s.add(`input, data, "group"`, "INSERT INTO effect VALUES (1) RETURNING 'done'", "odd", "odd")
			reads := s.add("input, data", "SELECT 1", "odd")
			s.becomes(reads, "DONE")
			s.becomes(odd, "FAIL")
			if said := s.get("SELECT error FROM task WHERE id = $1", odd); !strings.Contains(said, c.says) || !strings.Contains(said, "could not be written") {
				t.Error(said)
			}
			if row := s.row(odd, "attempt, (SELECT count(*) FROM effect) AS effects"); row != `{"attempt":1,"effects":0}` {
				t.Error(row)
			}
			s.others()
		})
	}
}

// TestFinishRefused: if the table refuses the end, nothing is undone, and nothing runs twice.
func TestFinishRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int4)")
	s.refuse("UPDATE", "NEW.state = 'DONE'")
	odd := s.add(`input, data`, "INSERT INTO effect VALUES (1) RETURNING 'done'", "odd")
	s.says("row left unchanged", "not this one")
	if row := s.row(odd, "state, xact IS NOT NULL AS prepared, output, attempt, (SELECT count(*) FROM effect) AS effects"); row != `{"state":"WORK","prepared":true,"output":"done","attempt":1,"effects":1}` {
		t.Error(row)
	}
	s.others()
	s.exec("DROP TRIGGER refuse ON task")
	s.drain()
	s.serve() // the next leader tries the end again
	s.becomes(odd, "DONE")
	if row := s.row(odd, "output, attempt, (SELECT count(*) FROM effect) AS effects"); row != `{"output":"done","attempt":1,"effects":1}` {
		t.Error(row)
	}
}

// TestARefusedPreparationIsNotBlamedOnTheInput: if the table refuses to prepare a task, its run is
// rolled back. The row says why, and shows no statement of the task. A refusal of the table at
// COMMIT counts as well.
func TestARefusedPreparationIsNotBlamedOnTheInput(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int8); CREATE TABLE word (word text PRIMARY KEY)")
	s.exec("ALTER TABLE task ADD CHECK (data <> 'silent' OR output IS NULL), ADD CONSTRAINT short CHECK (data <> 'short' OR state <> 'WORK')," +
		"ADD COLUMN known text, ADD FOREIGN KEY (known) REFERENCES word DEFERRABLE INITIALLY DEFERRED")
	s.exec("CREATE FUNCTION knows() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.known := NEW.output; RETURN NEW; END$$;" +
		"CREATE TRIGGER knows BEFORE UPDATE ON task FOR EACH ROW WHEN (NEW.data = 'known') EXECUTE FUNCTION knows()")
	s.refuse("UPDATE", "NEW.state = 'WORK'")
	s.exec("CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'not this effect'; END$$;" +
		"CREATE CONSTRAINT TRIGGER late AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.id < 0) EXECUTE FUNCTION late()")
	const unwritten = "ERROR:  the end of the task could not be written: "
	for _, c := range []struct {
		data   string
		effect int
		want   string // state, SQLSTATE, number of effects
		error  string
	}{
		{"odd", 1, "FAIL P0001 0", unwritten + "not this one\nCONTEXT:  PL/pgSQL function "},
		{"short", 2, "FAIL 23514 0", unwritten + `new row for relation "task" violates check constraint "short"` + "\nDETAIL:  "},
		{"silent", 3, "DONE  1", ""},
		{"known", 4, "DONE  1", ""},
		{"even", -5, "FAIL P0001 0", "ERROR:  not this effect\n"}, // the task's own error
	} {
		id := s.add("data, delete, input", c.data, false, fmt.Sprintf("INSERT INTO effect VALUES (%d)", c.effect))
		s.becomes(id, "DONE", "FAIL")
		got := s.get("SELECT concat(state, ' ', sqlstate, ' ', (SELECT count(*) FROM effect WHERE id = $2)) FROM task WHERE id = $1", id, c.effect)
		text := s.get("SELECT coalesce(error, '') FROM task WHERE id = $1", id)
		if got != c.want || !strings.HasPrefix(text, c.error) || strings.Contains(text, "STATEMENT") != (c.data == "even") {
			t.Errorf("%s: %s: %s", c.data, got, text)
		}
	}
}
