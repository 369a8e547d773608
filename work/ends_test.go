package work

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// Tests of ends that a task's SQL, or the triggers and keys of the table, make difficult. The row
// must show what the contract says, effects and DONE must agree, nothing may run too often, and the
// next task of the lane must find a clean session.

// ending is a task and its expected end.
type ending struct {
	title   string
	columns map[string]any // besides input
	// {} is an effect. tick() counts the runs; the input does not show that it uses a sequence.
	input   string
	state   string // "gone": no row; "WORK": the table takes no end; "DONE or FAIL": must match the effects
	code    string // SQLSTATE; "*": any
	effects int    // effects if DONE
	runs    int    // the most runs; 0 means 1
}

const own = "id = current_setting('pg_task.id')::int8"

// lane is a group for all tasks with one code: some ends are tried for a while.
func (e *ending) lane() string {
	if data, ok := e.columns["data"].(string); ok {
		return data
	}
	return "endings"
}

// endings are difficult by themselves.
var endings = []ending{
	{title: "COMMIT; BEGIN", input: "{}; COMMIT; BEGIN; {}", state: "DONE", effects: 2},
	{title: "COMMIT and failure", input: "{}; COMMIT; BEGIN; {}; SELECT 1/0", state: "FAIL", code: "22012", effects: 1},
	{title: "COMMIT AND CHAIN", input: "BEGIN; {}; COMMIT AND CHAIN; {}", state: "DONE", effects: 2},
	{title: "COMMIT AND CHAIN and failure", input: "BEGIN; {}; COMMIT AND CHAIN; {}; SELECT 1/0", state: "FAIL", code: "22012", effects: 1},
	{title: "ROLLBACK AND CHAIN", input: "BEGIN; {}; ROLLBACK AND CHAIN; {}", state: "DONE", effects: 1},
	{title: "ABORT; BEGIN", input: "BEGIN; {}; ABORT; BEGIN; {}", state: "DONE", effects: 1},
	{title: "PREPARE TRANSACTION", input: "BEGIN; {}; PREPARE TRANSACTION 'endings'", state: "DONE", effects: 1},
	{title: "COMMIT PREPARED", input: "COMMIT PREPARED 'endings'", state: "DONE"},
	{title: "PREPARE TRANSACTION that is refused", input: "BEGIN; {}; CREATE TEMP TABLE x (); PREPARE TRANSACTION 'refused'", state: "FAIL", code: "0A000"},
	{title: "CALL with COMMIT", input: "CALL in_two(); SELECT tick()", state: "DONE or FAIL", code: "2D000", effects: 2},
	{title: "CALL with COMMIT alone", input: "CALL in_two()", state: "DONE", effects: 2},
	{title: "CALL with COMMIT and failure", input: "CALL in_two_and_fail()", state: "FAIL", code: "22012", effects: 1},
	{title: "CALL with COMMIT, once", columns: map[string]any{"rerun": false}, input: "CALL in_two_of(nextval('tick_' || current_setting('pg_task.id')))", state: "DONE", effects: 2},
	{
		title: "refused in a transaction, once", columns: map[string]any{"rerun": false}, state: "DONE or FAIL", code: "25001",
		input: "SELECT nextval('tick_' || current_setting('pg_task.id')); REINDEX TABLE parts",
	},
	{title: "COMMIT by EXECUTE", input: "DO $$BEGIN {}; EXECUTE 'COMMIT'; END$$", state: "FAIL", code: "0A000"},
	{title: "read only at the end", input: "{}; SET TRANSACTION READ ONLY", state: "DONE", effects: 1},
	{title: "SERIALIZABLE", input: "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; {}", state: "DONE", effects: 1},
	{title: "SERIALIZABLE READ ONLY DEFERRABLE", input: "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE; SELECT 1", state: "DONE"},
	{title: "a snapshot that is not there", input: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '0-0-0'", state: "FAIL", code: "*"},
	{title: "a cursor that would write at COMMIT", input: "DECLARE c CURSOR WITH HOLD FOR SELECT effect()", state: "DONE"},
	{title: "one that does", columns: map[string]any{"save": true}, input: "DECLARE c CURSOR WITH HOLD FOR SELECT effect()", state: "DONE", effects: 1},
	{title: "one that fails", columns: map[string]any{"save": true}, input: "{}; DECLARE c CURSOR WITH HOLD FOR SELECT 1/(random()*0)::int", state: "FAIL", code: "22012"},
	{title: "terminates itself", input: "{}; SELECT pg_terminate_backend(pg_backend_pid())", state: "FAIL", code: "57P01"},
	{title: "terminates itself unseen", input: "{}; SELECT terminate()", state: "FAIL", code: "57P01"},
	{title: "cancels itself", input: "{}; SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(10)", state: "FAIL", code: "57014"},
	{title: "exit_on_error", input: "{}; SET exit_on_error TO on; SELECT 1/0", state: "FAIL", code: "22012"},
	{title: "idle_in_transaction_session_timeout", input: "{}; SET idle_in_transaction_session_timeout TO 1", state: "DONE or FAIL", code: "25P03", effects: 1, runs: 1000},
	{title: "idle_session_timeout", input: "{}; SELECT set_config(name, '1', false) FROM pg_settings WHERE name = 'idle_session_timeout'", state: "DONE", effects: 1},
	{title: "types of the same names", input: "{}; CREATE DOMAIN pg_temp.int8 AS int4 CHECK (false); CREATE DOMAIN pg_temp.text AS varchar CHECK (false)", state: "DONE", effects: 1},
	{title: "COPY FROM STDIN", input: "{}; COPY effect FROM STDIN", state: "FAIL", code: "57014"},
	{title: "its table locked", input: "{}; LOCK TABLE task", state: "DONE", effects: 1, runs: 2},
	{title: "its row locked", input: "SELECT FROM task WHERE " + own + " FOR UPDATE; {}", state: "DONE", effects: 1, runs: 2},
	{title: "a deferred key", input: "{}; INSERT INTO deferred VALUES (0)", state: "FAIL", code: "23503"},
	{title: "a key to its row", input: "INSERT INTO child SELECT id FROM task WHERE " + own + "; {}", state: "DONE", effects: 1},
	{
		title: "a key to its row, which is to be deleted", columns: map[string]any{"delete": true}, state: "DONE",
		input: "WITH made AS (INSERT INTO child SELECT id FROM task WHERE " + own + " RETURNING 1) SELECT FROM made WHERE false",
	},
	{title: "a key of its row, cascading", columns: map[string]any{"whose": 1}, input: "{}; DELETE FROM whose WHERE id = 1", state: "gone", effects: 1, runs: 2},
	{title: "a key of its row, set to null", columns: map[string]any{"other": 2}, input: "{}; DELETE FROM whose WHERE id = 2", state: "DONE", effects: 1, runs: 2},
	{title: "a key of its row, changed", columns: map[string]any{"whose": 3}, input: "{}; UPDATE whose SET id = 4 WHERE id = 3", state: "DONE", effects: 1, runs: 2},
	{title: "stops itself", columns: map[string]any{"repeat": "1 year"}, input: "{}; UPDATE task SET state = 'STOP' WHERE " + own, state: "DONE", effects: 1, runs: 2},
	{title: "deletes itself", input: "{}; DELETE FROM task WHERE " + own, state: "gone", effects: 1, runs: 2},
	{title: "statement_timeout", input: "{}; SET statement_timeout TO 1000", state: "DONE", effects: 1},
	{title: "a division by zero of its table's", columns: map[string]any{"data": "divided"}, input: "{}", state: "WORK", effects: 1},
	{title: "its row's inheritance", input: "{}; CREATE TABLE heir () INHERITS (task); DROP TABLE heir", state: "DONE", effects: 1},
}

// raised are codes that users' SQL raises, and that mean something else when the server sends them.
var raised = []string{"25001", "2D000", "57P01", "57P02", "57P03", "40001", "40P01", "55P03", "57014", "22012", "25006", "25P02", "25P03", "26000", "08006", "53100", "53200", "53300", "42501", "42P01", "42703", "3F000", "0A000", "XX000"}

// withRaised returns endings in which the SQL raises a code, raises it at COMMIT, or a trigger of
// the task table raises it at the end. A trigger's error undoes nothing.
func withRaised(code string) []ending {
	raise := "DO $$BEGIN RAISE 'mine' USING ERRCODE = '" + code + "'; END$$"
	columns := map[string]any{"data": "raise " + code}
	return []ending{
		{title: code, input: "{}; " + raise, state: "FAIL", code: code},
		{title: code + ", having written nothing", input: raise, state: "FAIL", code: code},
		{title: code + " after COMMIT", input: "BEGIN; {}; COMMIT; " + raise, state: "FAIL", code: code, effects: 1},
		{title: code + " at COMMIT", input: "{}; INSERT INTO late VALUES ('" + code + "')", state: "FAIL", code: code},
		{title: code + " at the end", input: "{}", state: "WORK", columns: columns, effects: 1},
		{title: code + " at the end, having written nothing", input: "SELECT 1", state: "WORK", columns: columns},
		{title: code + " at the end, with a repetition", input: "SELECT 1", state: "WORK", columns: map[string]any{"data": "raise " + code, "repeat": "1 year"}},
		{title: code + " at the end, after COMMIT", input: "{}; COMMIT", state: "WORK", columns: columns, effects: 1},
	}
}

// TestEndings runs all of them, with tasks between them that check the session.
func TestEndings(t *testing.T) {
	t.Parallel()
	s := hostile(t)
	// Take the lock first: later in the transaction, a statement of the loop could hold a part of
	// the locks and wait for us.
	s.exec(`
		LOCK TABLE task;
		CREATE FUNCTION tick() RETURNS void LANGUAGE sql AS $$SELECT nextval('tick_' || current_setting('pg_task.id'))$$;
		CREATE FUNCTION effect() RETURNS void LANGUAGE sql AS $$INSERT INTO public.effect VALUES (current_setting('pg_task.id')::int8)$$;
		CREATE FUNCTION terminate() RETURNS bool LANGUAGE sql AS $$SELECT pg_terminate_backend(pg_backend_pid())$$;
		CREATE PROCEDURE in_two() LANGUAGE plpgsql AS $$BEGIN PERFORM effect(); COMMIT; PERFORM effect(); END$$;
		CREATE PROCEDURE in_two_of(outside int8) LANGUAGE plpgsql AS $$BEGIN PERFORM effect(); COMMIT; PERFORM effect(); END$$;
		CREATE TABLE parts (id int8) PARTITION BY RANGE (id);
		CREATE PROCEDURE in_two_and_fail() LANGUAGE plpgsql AS $$BEGIN PERFORM effect(); COMMIT; PERFORM effect(); PERFORM 1/0; END$$;
		CREATE TABLE deferred (id int8 REFERENCES task DEFERRABLE INITIALLY DEFERRED);
		CREATE TABLE child (id int8 REFERENCES task);
		CREATE TABLE whose (id int4 PRIMARY KEY);
		INSERT INTO whose VALUES (1), (2), (3);
		ALTER TABLE task ADD COLUMN whose int4 REFERENCES whose ON UPDATE CASCADE ON DELETE CASCADE, ADD COLUMN other int4 REFERENCES whose ON DELETE SET NULL;
		CREATE TABLE late (code text);
		CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'late' USING ERRCODE = NEW.code; END$$;
		CREATE CONSTRAINT TRIGGER late AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late();
		CREATE FUNCTION at_end() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'at the end' USING ERRCODE = substr(NEW.data, 7); END$$;
		CREATE TRIGGER at_end BEFORE UPDATE OF state ON task FOR EACH ROW WHEN (NEW.state = 'DONE' AND NEW.data LIKE 'raise %') EXECUTE FUNCTION at_end();
		ALTER TABLE task ADD CHECK (CASE WHEN state = 'DONE' AND data = 'divided' THEN 1 / (id - id) > 0 ELSE true END)`)
	all := append([]ending(nil), endings...)
	for _, code := range raised {
		all = append(all, withRaised(code)...)
	}
	ids := make([]int64, len(all))
	tx, err := s.conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.add(`input, "group", data`, seen, "endings", "first")
	for i := range all {
		ids[i] = all[i].insert(s)
		s.add(`input, "group", data`, seen, all[i].lane(), fmt.Sprint("after ", all[i].title))
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.allHaveEnded(all)
	for i := range all {
		all[i].compare(s, ids[i])
	}
	if wrong := s.get(`SELECT json_agg(w) FROM (SELECT t.data AS left, t.state, t.error, t.output, f.output AS first
		FROM task AS t JOIN task AS f ON f.data = 'first'
		WHERE t.data LIKE 'after %' AND (t.state <> 'DONE' OR t.output::jsonb - '{id,data,name,group}'::text[] <> f.output::jsonb - '{id,data,name,group}'::text[])) AS w`); wrong != "NULL" {
		t.Error(wrong)
	}
	if s.leads() > 1 {
		t.Errorf("led %d times", s.leads())
	}
}

// allHaveEnded waits until all tasks have ended, except those whose end the table refuses.
func (s *stage) allHaveEnded(all []ending) {
	s.t.Helper()
	refused := 0
	for i := range all {
		if all[i].state == "WORK" {
			refused++
		}
	}
	var left string
	servertest.Wait(s.t, 2*patient, "all to have ended", func() bool {
		left = s.get(`SELECT string_agg(concat_ws(' ', id, state, data, input), E'\n') FROM task
			WHERE plan <= now() + interval '2 s' AND (state IN ('PLAN', 'TAKE') OR state = 'WORK' AND (data = 'divided' OR data LIKE 'raise %') IS NOT TRUE)`)
		return left == "NULL" && strings.Count(s.logged(), "table refuses every end of a task") >= refused
	}, func() string {
		return fmt.Sprint("left: ", left, "; refused: ", strings.Count(s.logged(), "table refuses every end of a task"), " of ", refused)
	})
}

// insert adds the task, and the sequence that counts its runs.
func (e *ending) insert(s *stage) (id int64) {
	s.t.Helper()
	const counted = "INSERT INTO public.effect SELECT current_setting('pg_task.id')::int8 FROM public.tick()"
	input := strings.Replace(e.input, "{}", counted, 1)
	columns, values := `"group", input`, []any{e.lane(), strings.ReplaceAll(input, "{}", strings.TrimSuffix(effect, "; "))}
	for column, value := range e.columns {
		columns, values = columns+", "+column, append(values, value)
	}
	id = s.add(columns, values...)
	s.exec(fmt.Sprintf("CREATE SEQUENCE tick_%d; GRANT ALL ON tick_%[1]d TO PUBLIC", id))
	return id
}

func (e *ending) compare(s *stage, id int64) {
	s.t.Helper()
	got := s.get(`SELECT concat_ws(' ', coalesce(t.state::text, 'gone'), t.sqlstate, count(f.id)) FROM (SELECT $1::int8 AS id) AS x LEFT JOIN task AS t USING (id)
		LEFT JOIN effect AS f USING (id) GROUP BY t.state, t.sqlstate`, id)
	if want := e.want(); !slices.ContainsFunc(want, func(pattern string) bool { ok, _ := path.Match(pattern, got); return ok }) {
		s.t.Errorf("%s: got %s, want %s: %s", e.title, got, strings.Join(want, " or "), s.get("SELECT error FROM task WHERE id = $1", id))
	}
	if most := max(e.runs, 1); s.get(fmt.Sprint("SELECT last_value <= $1 FROM tick_", id), most) != "true" {
		s.t.Errorf("%s: it ran more than %d times", e.title, most)
	}
}

// want lists the results that may come of it: state, SQLSTATE, number of effects.
func (e *ending) want() (all []string) {
	for _, state := range strings.Split(e.state, " or ") {
		switch {
		case state != "FAIL":
			all = append(all, fmt.Sprint(state, " ", e.effects))
		case e.state == "FAIL":
			all = append(all, fmt.Sprint("FAIL ", e.code, " ", e.effects))
		default: // no effect stays
			all = append(all, fmt.Sprint("FAIL ", e.code, " 0"))
		}
	}
	return all
}
