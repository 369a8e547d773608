package work

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestTaskThatCommitsAChangeOfItsOwnRowFails: the change is refused where it is made. What the task
// has committed before that stays, and it runs once.
func TestTaskThatCommitsAChangeOfItsOwnRowFails(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`CREATE TABLE effect (id int8, what text);
		CREATE FUNCTION change(what text) RETURNS void LANGUAGE plpgsql AS $$BEGIN EXECUTE 'UPDATE task SET ' || what || ' WHERE id = ' || current_setting('pg_task.id'); END$$;
		CREATE PROCEDURE commits(what text) LANGUAGE plpgsql AS $$BEGIN PERFORM change(what); COMMIT; END$$`)
	const (
		effect = "INSERT INTO effect VALUES (current_setting('pg_task.id')::int8, 'before'); COMMIT; "
		own    = " WHERE id = current_setting('pg_task.id')::int8; COMMIT; INSERT INTO effect VALUES (current_setting('pg_task.id')::int8, 'after')"
	)
	inputs := []string{}
	for _, change := range []string{
		"data = 'changed'", "input = 'SELECT 1'", `"group" = 'other'`, "plan = now() + '1 day'::interval", "repeat = '1 day'", "remote = 'nowhere'", "attempt = 0", "id = id + 1000000",
		"state = 'STOP'", "state = 'PLAN'", "state = 'PLAN', plan = now() + '1 day'::interval", "state = 'PLAN', stop = now()", "state = 'TAKE'", "state = 'DONE'", "state = 'FAIL'", "state = 'GONE', stop = now()",
		"state = 'DONE', stop = now()", "state = 'FAIL', stop = clock_timestamp()", "state = 'DONE', stop = now(), output = 'mine', pid = NULL",
		"pid = 1", "pid = NULL", "start = NULL", "start = now() - '1 day'::interval", "data = data",
	} {
		inputs = append(inputs, effect+"UPDATE task SET "+change+own, effect+"BEGIN; SELECT 1; UPDATE task SET "+change+own)
	}
	for _, change := range []string{"data = $$x$$", "state = $$PLAN$$", "state = $$STOP$$", "pid = 1"} {
		inputs = append(inputs, effect+"SELECT change('"+change+"'); COMMIT", effect+"CALL commits('"+change+"')", effect+"DO $d$BEGIN PERFORM change('"+change+"'); COMMIT; END$d$")
	}
	inputs = append(inputs, effect+"RESET ALL; UPDATE task SET state = 'PLAN' WHERE input LIKE '%only this one%'; COMMIT")
	for _, id := range []string{"0", "another", "-1", "99999999999999999999"} { // what names no task that could be at work
		inputs = append(inputs, effect+"SET pg_task.id TO '"+id+"'; UPDATE task SET state = 'PLAN' WHERE input LIKE '%only "+id+" one%'; COMMIT")
	}
	inputs = append(inputs, effect+"BEGIN; SAVEPOINT one; UPDATE task SET state = 'DONE', stop = now()"+own,
		effect+"DO $$BEGIN PERFORM set_config('pg_task.id', '0' || current_setting('pg_task.id'), false); UPDATE task SET state = 'PLAN' WHERE input LIKE '%only leading zero%'; COMMIT; END$$")
	ids := make([]int64, len(inputs))
	for i, input := range inputs {
		ids[i] = s.add("input, data", input, "kept")
	}
	for i, id := range ids {
		s.becomes(id, "DONE", "FAIL", "GONE", "STOP")
		row := s.row(id, "state, sqlstate, data, attempt, interrupted")
		if strings.Contains(inputs[i], "'TAKE'") { // which nobody may say
			row = strings.Replace(row, "23514", "55000", 1)
		}
		if row != `{"state":"FAIL","sqlstate":"55000","data":"kept","attempt":1,"interrupted":0}` {
			t.Error(inputs[i], row)
		}
	}
	if odd := s.get("SELECT coalesce(string_agg(id::text, ' '), '') FROM (SELECT id FROM effect GROUP BY id HAVING string_agg(what, ' ') <> 'before') AS e"); odd != "" {
		t.Error("effects of ", odd)
	}
}

// TestTaskThatChangesItsOwnRowInItsTransactionFails: whatever it makes of it, in tasks of all
// kinds. Nothing of it is kept, and it does not run again and again.
func TestTaskThatChangesItsOwnRowInItsTransactionFails(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`CREATE TABLE effect (id int8);
		CREATE FUNCTION change(what text) RETURNS void LANGUAGE plpgsql AS $$BEGIN EXECUTE 'UPDATE task SET ' || what || ' WHERE id = ' || current_setting('pg_task.id'); END$$`)
	kinds := []struct {
		columns string
		value   any
	}{{"data", "kept"}, {"rerun", false}, {"key", ""}, {"save", true}, {"repeat", "1 day"}, {"remote", s.dsn}}
	const effect, where = "INSERT INTO effect VALUES (1); ", " WHERE id = current_setting('pg_task.id')::int8"
	ids := map[int64]string{}
	for _, kind := range kinds {
		for i, change := range []string{"state = 'DONE', stop = now()", "state = 'FAIL', stop = now(), error = 'mine'", "state = 'PLAN'", "state = 'STOP'"} {
			for _, input := range []string{
				effect + "UPDATE task SET " + change + where,
				effect + "SAVEPOINT one; UPDATE task SET " + change + where + "; RELEASE one",
				effect + "DO $$BEGIN PERFORM change('" + strings.ReplaceAll(change, "'", "''") + "'); END$$",
			} {
				if kind.columns == "remote" { // where nothing of ours is around it
					input = "BEGIN; " + input + "; COMMIT"
				}
				value := kind.value
				if kind.columns == "key" {
					value = input
				}
				if lasts := i%2 == 0; lasts { // it is marked while it runs
					input = "SELECT pg_sleep(0.15); " + input
				}
				ids[s.add(kind.columns+`, input, "group"`, value, input, fmt.Sprint(kind.columns, i))] = kind.columns + ": " + input
			}
		}
	}
	for id, what := range ids {
		s.becomes(id, "DONE", "FAIL", "GONE", "STOP")
		if row := s.row(id, "state, sqlstate, interrupted"); row != `{"state":"FAIL","sqlstate":"55000","interrupted":0}` {
			t.Error(what, row, s.get("SELECT error FROM task WHERE id = $1", id))
		}
	}
	if n := s.get("SELECT count(*) FROM effect"); n != "0" {
		t.Errorf("%s effects", n)
	}
}

// TestTaskThatDeletesItsOwnRowRunsOnce, and leaves nothing behind but what it has committed.
func TestTaskThatDeletesItsOwnRowRunsOnce(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int8)")
	const effect = "INSERT INTO effect VALUES (current_setting('pg_task.id')::int8); COMMIT; DELETE FROM task WHERE id = current_setting('pg_task.id')::int8; COMMIT"
	id, long := s.add("input", effect), s.add("input", effect+"; SELECT pg_sleep(0.2)")
	s.eventually("0", "SELECT count(*) FROM task WHERE id IN ($1, $2)", id, long)
	s.becomes(s.add("input", "VACUUM effect"), "DONE")
	if n := s.get("SELECT string_agg(id::text, ' ' ORDER BY id) FROM effect"); n != "1 2" {
		t.Error(n)
	}
}

// TestRunningTaskIsChangedByOthers: whoever is not the session of its run may change its row, and a
// task may change the rows of others.
func TestRunningTaskIsChangedByOthers(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add(`input, "group"`, "SELECT pg_sleep(1); COMMIT", "one")
	s.becomes(id, "WORK")
	s.exec("UPDATE task SET data = 'by a user' WHERE id = $1", id)
	other := s.add(`input, "group"`, "UPDATE task SET priority = 7 WHERE \"group\" = 'one'; COMMIT", "two")
	s.becomes(other, "DONE", "FAIL")
	s.becomes(id, "DONE", "FAIL")
	if row := s.row(id, "state, data, priority, error"); row != `{"state":"DONE","data":"by a user","priority":7,"error":null}` {
		t.Error(row)
	}
}

// TestTaskThatLetsItselfRunAgainAtItsCommitFails: what it has put off until then finds its end
// written. Another task in the same session may let it run again.
func TestTaskThatLetsItselfRunAgainAtItsCommitFails(t *testing.T) {
	t.Parallel()
	s := play(t, func(target *Target) { target.Run = 1 })
	s.exec(`CREATE TABLE late (id int8, first text, again text DEFAULT $$state = 'PLAN'$$);
		CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
			IF NEW.first IS NOT NULL THEN EXECUTE format('UPDATE task SET %s WHERE id = $1', NEW.first) USING NEW.id; END IF;
			EXECUTE format('UPDATE task SET %s WHERE id = $1', NEW.again) USING NEW.id;
			RETURN NULL;
		END$$;
		CREATE CONSTRAINT TRIGGER late AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late()`)
	other := s.add("input, plan", "SELECT 1", time.Now().Add(time.Hour))
	const own, late = "current_setting('pg_task.id')::int8", "INSERT INTO late (id) VALUES (current_setting('pg_task.id')::int8); "
	inputs := []string{late, late + "RESET ALL", late + "SET pg_task.id = ''", fmt.Sprintf(late+"SET pg_task.id = %d", other)}
	for _, first := range []string{"stop = '2000-01-01'", "stop = NULL", "start = '2000-01-01'", "start = NULL", "pid = NULL", "pid = pid + 1", "remote = 'elsewhere'"} {
		inputs = append(inputs, "INSERT INTO late VALUES ("+own+", $$"+first+"$$, $$state = 'PLAN', remote = NULL$$); SET pg_task.id = ''")
	}
	inputs = append(inputs, fmt.Sprintf("INSERT INTO late VALUES ("+own+", $$state = 'WORK'$$); SET application_name = 'pgtaskd x'; SET pg_task.id = %d", other))
	for _, input := range inputs {
		id := s.add("input", input)
		s.becomes(id, "FAIL")
		if got := s.get("SELECT concat(attempt, ' ', split_part(error, E'\n', 1), ' ', (SELECT count(*) FROM late)) FROM task WHERE id = $1", id); got != "1 ERROR:  task was changed while it ran 0" {
			t.Error(input, got)
		}
	}
	first := s.add(`input, "delete"`, "CREATE TABLE IF NOT EXISTS effect (); SELECT 1", false)
	s.becomes(first, "DONE")
	s.becomes(s.add("input", fmt.Sprintf("INSERT INTO late VALUES (%d, $$data = 'x'$$) RETURNING id", first)), "DONE")
	s.eventually("true", "SELECT state = 'DONE' AND jsonb_array_length(runs) = 1 FROM task WHERE id = $1", first)
}
