//go:build slow

package work

import "testing"

// replaces is a function that puts statements of its own in the place of those that are prepared in
// the session. They answer as ours do, but set and write nothing of what is asked of them.
const replaces = `CREATE FUNCTION replaces() RETURNS int LANGUAGE plpgsql AS $f$
DECLARE s record; body text; n int := 0;
BEGIN
	PERFORM set_config('my.own', 'left', false);
	FOR s IN SELECT name, statement, array_to_string(parameter_types::text[], ', ') AS types FROM pg_prepared_statements WHERE NOT from_sql LOOP
		body := CASE
			WHEN s.statement LIKE '%pg_my_temp_schema%' THEN 'SELECT NULL::int8, clock_timestamp(), true, 0::oid'
			WHEN s.statement LIKE '%txid_current_if_assigned%' THEN 'SELECT NULL::int8, clock_timestamp(), true'
			WHEN s.statement LIKE '%set_config%' THEN 'SELECT clock_timestamp()'
			WHEN s.statement ~ '^\s*(WITH|UPDATE|DELETE)' THEN 'SELECT 1::int2'
			ELSE 'SELECT' END;
		EXECUTE format('DEALLOCATE %I', s.name);
		EXECUTE format('PREPARE %I ', s.name) || CASE WHEN s.types <> '' THEN '(' || s.types || ')' ELSE '' END || ' AS ' || body;
		n := n + 1;
	END LOOP;
	RETURN n;
END $f$;
CREATE FUNCTION replaces_late() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN PERFORM replaces(); RETURN NULL; END $f$;
CREATE TABLE late (a int);
CREATE CONSTRAINT TRIGGER late AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION replaces_late()`

// TestReplacedByAnotherLane: a lane whose tasks replace our prepared statements changes nothing for
// the tasks of another lane that run on the same sessions: each commits what it does once, and
// finds its own settings.
func TestReplacedByAnotherLane(t *testing.T) {
	t.Parallel()
	for name, input := range map[string]string{
		"control": "SELECT 'nothing'", "function": "SELECT replaces()", "block": "DO $$BEGIN PERFORM replaces(); END$$", "at COMMIT": "INSERT INTO late VALUES (1)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t, func(t *Target) { t.Run = 1 })
			s.exec(replaces)
			s.exec("CREATE TABLE effect (id int8, met text)")
			s.exec(`INSERT INTO task (input, "group", "delete") SELECT CASE WHEN i % 5 = 0 THEN $1 ELSE
				'INSERT INTO effect VALUES (current_setting(''pg_task.id'')::int8, current_setting(''my.own'', true))' END,
				CASE WHEN i % 5 = 0 THEN 'hostile' ELSE 'other' END, false FROM generate_series(1, 125) AS i`, input)
			s.eventually("0", "SELECT count(*) FROM task WHERE stop IS NULL")
			if got := s.get(`SELECT count(*) FROM task WHERE "group" = 'other' AND state = 'DONE' AND output = 'INSERT 0 1'`); got != "100" {
				t.Errorf("%s of 100 are DONE: %s", got, s.get(`SELECT string_agg(DISTINCT error, ' ') FROM task WHERE "group" = 'other'`))
			}
			if got := s.get("SELECT concat_ws(' ', count(*), count(DISTINCT id), string_agg(DISTINCT met, ' ')) FROM effect"); got != "100 100" && got != "100 100 " {
				t.Errorf("effects, tasks, and what they have met: %q", got)
			}
		})
	}
}
