package attack

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// single is a scene with one table, whose tasks share one session.
func single(t *testing.T, name string, keys object) (*scene, *target) {
	t.Helper()
	s := newScene(t, "postgres")
	s.choose(attack{tables: name})
	s.targets[0].keys = keys
	return s, s.targets[0]
}

// add inserts a task, as a superuser.
func (s *scene) add(t *target, columns, values string) (id string) {
	s.Helper()
	return s.get(s.user, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) RETURNING id", t.name(), columns, values))
}

// ends waits for the end of a task.
func (s *scene) ends(t *target, id, state string) {
	s.Helper()
	look := fmt.Sprintf("SELECT state FROM %s WHERE id = %s", t.name(), id)
	if !s.until(servedIn, func() bool {
		return strings.Contains("DONE FAIL GONE", s.get(s.safe, look)) || s.get(s.safe, look) == state
	}) || s.get(s.safe, look) != state {
		s.Errorf("task %s is %s, not %s: %s", id, s.get(s.safe, look), state, s.get(s.safe, strings.Replace(look, "state", "error", 1)))
	}
}

// ended waits for the end of a task, whatever it is.
func (s *scene) ended(t *target, id string) {
	s.Helper()
	look := fmt.Sprintf("SELECT state FROM %s WHERE id = %s", t.name(), id)
	if !s.until(servedIn, func() bool { return strings.Contains("DONE FAIL GONE", s.get(s.safe, look)) }) {
		s.Errorf("task %s does not end", id)
	}
}

// A task puts statements of its own in the place of those that pgtaskd has prepared in the session. The tasks of other lanes, which come after it in
// that session, do their work once, and see nothing of it.
func TestPreparedStatements(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"nothing":      "SELECT",
		"a number":     "SELECT 1::int2",
		"a row":        "SELECT 1::int2, 2, ''x''",
		"many rows":    "SELECT generate_series(1, 100)",
		"a write":      "INSERT INTO own.effect VALUES (0)",
		"a setting":    "SELECT set_config(''my.own'', ''left'', false)",
		"a divide":     "SELECT 1 / 0",
		"only removed": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, table := single(t, "own.task", object{"run": 1})
			s.configure(nil)
			p := run(t, "--config", s.config)
			s.exec(s.as("$o"), `CREATE TABLE own.effect (id int8);
				CREATE FUNCTION own.work() RETURNS void LANGUAGE sql AS $f$ INSERT INTO own.effect VALUES (current_setting('pg_task.id')::int8) $f$;
				CREATE FUNCTION own.swap() RETURNS int LANGUAGE plpgsql AS $f$
				DECLARE s record; n int := 0;
				BEGIN
					PERFORM set_config('my.own', 'left', false);
					CREATE TEMP TABLE IF NOT EXISTS mine (id int);
					FOR s IN SELECT name, parameter_types::text[] AS types FROM pg_prepared_statements LOOP
						EXECUTE format('DEALLOCATE %I', s.name);
						IF '`+body+`' <> '' THEN
							EXECUTE format('PREPARE %I %s AS `+body+`', s.name, CASE WHEN s.types <> '{}' THEN '(' || array_to_string(s.types, ', ') || ')' END);
						END IF;
						n := n + 1;
					END LOOP;
					RETURN n;
				END $f$`)
			s.serve(attack{}, p, "at first")
			const seen = "SELECT coalesce(current_setting(''my.own'', true), '''') || coalesce(to_regclass(''pg_temp.mine'')::text, '''')"
			var ids, looks []string
			for i := range 12 {
				group := fmt.Sprintf("'%d', ", i)
				s.ended(table, s.add(table, `"group", input`, group+"'SELECT own.swap()'"))
				ids = append(ids, s.add(table, `"group", input`, group+"'SELECT own.work()'"), s.add(table, `"group", input`, "'other', 'SELECT own.work()'"))
				looks = append(looks, s.add(table, `"group", input`, group+"'"+seen+"'"))
			}
			for _, id := range append(ids, looks...) {
				s.ends(table, id, "DONE")
			}
			if wrong := s.get(s.safe, "SELECT count(*) FROM (SELECT id FROM own.effect WHERE id > 0 GROUP BY id HAVING count(*) = 1) AS e"); wrong != fmt.Sprint(len(ids)) {
				t.Errorf("of %d tasks %s have done their work once", len(ids), wrong)
			}
			if left := s.get(s.safe, "SELECT string_agg(output, ' ') FROM own.task WHERE output <> '' AND id IN ("+strings.Join(looks, ", ")+")"); left != "" {
				t.Errorf("the next tasks see %q", left)
			}
		})
	}
}

// What a task leaves in its session, and a trigger of the owner's that needs the role's path, let nobody else's operators between our statements.
func TestPathComesBack(t *testing.T) {
	t.Parallel()
	enums := file(t, "enums")
	operators := strings.ReplaceAll(file(t, "operators"), "$n", "public")
	for name, cause := range map[string]string{
		"trigger": `CREATE TABLE own.audit (id int8); ALTER ROLE $o SET search_path = own, public; CREATE FUNCTION own.note() RETURNS trigger LANGUAGE plpgsql AS $f$
			BEGIN INSERT INTO audit VALUES (NEW.id); RETURN NULL; END $f$; CREATE TRIGGER note AFTER UPDATE ON own.task FOR EACH ROW EXECUTE FUNCTION own.note()`,
		"domain":   `INSERT INTO own.task (input) SELECT 'CREATE DOMAIN pg_temp.' || n || ' AS pg_catalog.text' FROM unnest('{int2,int4,int8,text,bool,xid,timestamptz}'::text[]) AS n`,
		"relation": `INSERT INTO own.task (input) SELECT 'CREATE TEMP TABLE ' || n || ' (id int)' FROM unnest('{task,pg_class,pg_stat_activity,pg_proc}'::text[]) AS n`,
		"save":     `INSERT INTO own.task (save, input) SELECT true, 'CREATE DOMAIN pg_temp.' || n || ' AS pg_catalog.text' FROM unnest('{int2,int4,int8,text,bool}'::text[]) AS n`,
		"settings": `INSERT INTO own.task (save, input) VALUES (true, 'SET search_path = public, pg_catalog'), (true, 'SET search_path = pg_temp, public'), (true, 'SET role = none')`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, table := single(t, "own.task", object{"run": 2})
			s.exec(s.safe, create)
			s.configure(nil)
			p := run(t, "--config", s.config)
			s.serve(attack{}, p, "at first")
			s.exec(s.mallory, operators+enums)
			s.exec(s.as("$o"), cause)
			for i := range 3 {
				s.use(attack{}, p, fmt.Sprint("in round ", i), 0)
				s.ends(table, s.add(table, "input, rerun", "'SELECT 1', false"), "DONE")
				s.ends(table, s.add(table, "input", "'SELECT 1/0'"), "FAIL")
				s.ends(table, s.add(table, "input", "'CREATE TEMP TABLE x ()'"), "DONE")
				s.ends(table, s.add(table, "input", "'VACUUM own.task'"), "DONE")
			}
			p.stop(t)
			s.serve(attack{}, run(t, "--config", s.config), "after a restart")
			if name == "trigger" && s.get(s.safe, "SELECT count(*) > 0 FROM own.audit") != "t" {
				t.Error("the trigger has noted nothing")
			}
			s.verdict(attack{})
		})
	}
}

// A stranger's session with the name of one of ours holds up nothing of what a crash has left.
func TestNameOfASession(t *testing.T) {
	t.Parallel()
	s, table := single(t, "own.task", nil)
	s.configure(nil)
	p := run(t, "--config", s.config)
	s.serve(attack{}, p, "at first")
	for _, name := range []string{"pg_task own task group", "pg_task own task ", "pgtaskd own task", "pg_task own task now"} {
		stranger := s.as("$m")
		s.exec(stranger, "SET application_name = '"+name+"'")
		go func() { _, _ = stranger.PgConn().Exec(t.Context(), "SELECT pg_sleep(60)").ReadAll() }()
	}
	again, stopped := s.add(table, "input", "'SELECT pg_sleep(0.5)'"), s.add(table, `"group", input`, "'other', 'SELECT pg_sleep(60)'")
	s.ends(table, stopped, "WORK")
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	<-p.done
	s.exec(s.user, "UPDATE own.task SET state = 'STOP' WHERE id = "+stopped)
	s.exec(s.safe, `SET session_replication_role = replica; INSERT INTO own.task (id, state, pid, attempt, plan, "group", input) VALUES (1000, 'TAKE', 1, 1, now(), 'taken', 'SELECT 1')`)
	p = run(t, "--config", s.config)
	s.serve(attack{}, p, "after a crash")
	s.ends(table, again, "DONE")
	s.ends(table, "1000", "DONE")
	if !s.until(servedIn, func() bool { return s.get(s.safe, "SELECT stop IS NOT NULL FROM own.task WHERE id = "+stopped) == "t" }) {
		t.Error("the stopped task does not end")
	}
	if s.get(s.safe, "SELECT count(*) FROM pg_stat_activity WHERE usename = '"+s.roles["$m"]+"' AND query LIKE '%pg_sleep%'") != "4" {
		t.Error("a stranger's session was ended")
	}
}
