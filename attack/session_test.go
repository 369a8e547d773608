//go:build slow

package attack

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// single is a scene with one table, whose tasks share one session.
func single(t *testing.T, name string, keys object) (*scene, *target) {
	t.Helper()
	s := newScene(t)
	s.choose(attack{tables: name})
	s.targets[0].keys = keys
	return s, s.targets[0]
}

// add inserts a task as a superuser.
func (s *scene) add(t *target, columns, values string) (id string) {
	s.Helper()
	return s.get(s.user, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) RETURNING id", t.name(), columns, values))
}

// ends waits for the end of a task.
func (s *scene) ends(t *target, id, state string) {
	s.Helper()
	look := fmt.Sprintf("SELECT state FROM %s WHERE id = %s", t.name(), id)
	if !servertest.Comes(servedIn, func() bool {
		return strings.Contains("DONE FAIL GONE", s.get(s.safe, look)) || s.get(s.safe, look) == state
	}) || s.get(s.safe, look) != state {
		s.Errorf("task %s is %s, not %s: %s", id, s.get(s.safe, look), state, s.get(s.safe, strings.Replace(look, "state", "error", 1)))
	}
}

// ended waits for any end of a task.
func (s *scene) ended(t *target, id string) {
	s.Helper()
	look := fmt.Sprintf("SELECT state FROM %s WHERE id = %s", t.name(), id)
	if !servertest.Comes(servedIn, func() bool { return strings.Contains("DONE FAIL GONE", s.get(s.safe, look)) }) {
		s.Errorf("task %s does not end", id)
	}
}

// TestPathComesBack: a task changes its session, or a trigger of the owner needs the role's path.
// Still all other tasks end.
func TestPathComesBack(t *testing.T) {
	t.Parallel()
	causes := map[string]string{
		"trigger": `CREATE TABLE own.audit (id int8); CREATE FUNCTION own.note() RETURNS trigger LANGUAGE plpgsql AS $f$
			BEGIN INSERT INTO audit VALUES (NEW.id); RETURN NULL; END $f$; CREATE TRIGGER note AFTER UPDATE ON $t FOR EACH ROW EXECUTE FUNCTION own.note()`,
		"domain":   `INSERT INTO $t (input) SELECT 'CREATE DOMAIN pg_temp.' || n || ' AS pg_catalog.text' FROM unnest('{int2,int4,int8,text,bool,xid,timestamptz}'::text[]) AS n`,
		"relation": `INSERT INTO $t (input) SELECT 'CREATE TEMP TABLE ' || n || ' (id int)' FROM unnest('{task,pg_class,pg_stat_activity,pg_proc}'::text[]) AS n`,
		"saved":    `INSERT INTO $t (save, input) SELECT true, 'CREATE DOMAIN pg_temp.' || n || ' AS pg_catalog.text' FROM unnest('{int2,int4,int8,text,bool}'::text[]) AS n`,
		"setting":  `INSERT INTO $t (save, input) VALUES (true, 'SET search_path = public, pg_catalog'), (true, 'SET search_path = pg_temp, public'), (true, 'SET role = none')`,
	}
	s, _ := single(t, "own.task", nil)
	s.targets = nil
	for name := range causes {
		s.targets = append(s.targets, &target{schema: "own", table: name, role: "$o", keys: object{"run": 2}})
	}
	s.exec(s.safe, "ALTER ROLE $o SET search_path = own, public")
	s.user = s.connect(s.dsn("$p"), "own, public") // the trigger needs it
	s.configure(nil)
	p := run(t, "--config", s.config)
	s.serve(attack{}, p, "at first")
	for _, table := range s.targets {
		if err := s.try(s.as("$o"), strings.ReplaceAll(causes[table.table], "$t", table.name())); err != nil {
			t.Errorf("%s: %v", table.table, err)
		}
	}
	for i := range 2 {
		s.use(attack{}, p, fmt.Sprint("in round ", i), 0)
		for _, table := range s.targets {
			if table.broken {
				continue
			}
			once, fails := s.add(table, "input, rerun", "'SELECT 1', false"), s.add(table, "input", "'SELECT 1/0'")
			writes, outside := s.add(table, "input", "'CREATE TEMP TABLE x ()'"), s.add(table, "input", "'VACUUM own."+table.table+"'")
			s.ends(table, once, "DONE")
			s.ends(table, fails, "FAIL")
			s.ends(table, writes, "DONE")
			s.ends(table, outside, "DONE")
		}
	}
	p.stop(t)
	s.serve(attack{}, run(t, "--config", s.config), "after a restart")
	if s.get(s.safe, "SELECT count(*) > 0 FROM own.audit") != "t" {
		t.Error("the trigger has noted nothing")
	}
	s.verdict(attack{})
}

// TestNameOfASession: a stranger's session with one of our names delays no recovery from a crash.
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
	p.Kill()
	s.exec(s.user, "UPDATE own.task SET state = 'STOP' WHERE id = "+stopped)
	s.exec(s.safe, `SET session_replication_role = replica; INSERT INTO own.task (id, state, pid, attempt, plan, "group", input) VALUES (1000, 'TAKE', 1, 1, now(), 'taken', 'SELECT 1')`)
	p = run(t, "--config", s.config)
	s.serve(attack{}, p, "after a crash")
	s.ends(table, again, "DONE")
	s.ends(table, "1000", "DONE")
	if !servertest.Comes(servedIn, func() bool { return s.get(s.safe, "SELECT stop IS NOT NULL FROM own.task WHERE id = "+stopped) == "t" }) {
		t.Error("the stopped task does not end")
	}
	if s.get(s.safe, "SELECT count(*) FROM pg_stat_activity WHERE usename = '"+s.roles["$m"]+"' AND query LIKE '%pg_sleep%'") != "4" {
		t.Error("a stranger's session was ended")
	}
}
