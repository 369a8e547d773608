package exec

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// Attacks on the statements that we keep prepared in a session. Each is taken away and another
// prepared under its name, which answers as ours does and meddles with the session of whoever runs
// next.

// likeness is what may be prepared in the place of a statement of ours.
func likeness(name, sql string) string {
	parameters := 0
	for _, found := range regexp.MustCompile(`\$(\d+)`).FindAllStringSubmatch(sql, -1) {
		var n int
		fmt.Sscan(found[1], &n)
		parameters = max(parameters, n)
	}
	types := ""
	if parameters > 0 {
		types = "(" + strings.TrimSuffix(strings.Repeat("text, ", parameters), ", ") + ")"
	}
	columns := "clock_timestamp()"
	switch {
	case strings.Contains(name, "probe"):
		columns = "NULL::int8, clock_timestamp(), true"
	case strings.Contains(name, "own"), strings.Contains(name, "partly"):
		columns = "NULL::int8, clock_timestamp(), true, 0::oid"
	case strings.Contains(name, "done"):
		columns = "1::int2"
	}
	return types + " AS SELECT " + columns + " FROM meddle()"
}

// attacked is a session with every statement of ours that the ways of allWays and of a lane of
// tasks prepare.
func attacked(t *testing.T) *bench {
	b := newBench(t)
	b.exec("CREATE TABLE effects (id int8); CREATE TABLE ended (id int8); CREATE TABLE setter (a int4)")
	b.exec("CREATE FUNCTION meddle() RETURNS text LANGUAGE sql AS $$SELECT set_config('my.own', 'met', false)$$")
	b.exec("CREATE FUNCTION cancels() RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'one' USING ERRCODE = '57014'; END$$")
	b.exec("CREATE FUNCTION foreign_names(prefix text) RETURNS SETOF text LANGUAGE sql AS $$SELECT name FROM pg_prepared_statements WHERE name LIKE prefix AND NOT from_sql$$")
	b.exec(`CREATE FUNCTION replace_by(suffix text, likeness text) RETURNS int4 LANGUAGE plpgsql AS $$DECLARE n text; BEGIN
		FOR n IN SELECT * FROM foreign_names('pgtaskd\_%\_' || suffix) LOOP
			EXECUTE format('DEALLOCATE %I', n);
			IF likeness <> '' THEN EXECUTE format('PREPARE %I', n) || likeness; END IF;
		END LOOP; RETURN 1; END$$`)
	b.exec("CREATE TABLE orders (suffix text, likeness text); CREATE VIEW innocent AS SELECT replace_by(suffix, likeness) FROM orders")
	b.exec(`CREATE FUNCTION fires() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM replace_by(suffix, likeness) FROM orders; RETURN NULL; END$$;
		CREATE TABLE fires (a int4); CREATE TRIGGER fires AFTER INSERT ON fires FOR EACH ROW EXECUTE FUNCTION fires();
		CREATE TABLE fires_late (a int4); CREATE CONSTRAINT TRIGGER fires AFTER INSERT ON fires_late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fires();
		CREATE PROCEDURE called() LANGUAGE plpgsql AS $$BEGIN PERFORM replace_by(suffix, likeness) FROM orders; COMMIT; END$$`)
	return b
}

// lane runs tasks one behind the other as a runner does, and returns what they show. What forgot is
// run once more, wary.
func (b *bench) lane(tasks ...*Task) (shown []string) {
	b.t.Helper()
	var tail *Tail
	var before *Task
	for i := 0; i < len(tasks); i++ {
		task := tasks[i]
		result, verdict := b.run(task, tail)
		if tail != nil && !verdict.Committed {
			if !verdict.Forgot || before.Wary {
				b.t.Fatalf("%s: %s: %+v", b.title, before.Input, verdict)
			}
			before.Wary = true
			if result.Open {
				if verdict, err := b.session.End(b.ending(task, result)); err != nil || !verdict.Committed {
					b.t.Fatalf("%s: %s: %+v %v", b.title, task.Input, verdict, err)
				}
				shown = append(shown, output(result))
			}
			b.lane(before)
			tail = nil
			continue
		}
		tail, before = nil, task
		switch {
		case result.Forgot && !task.Wary:
			task.Wary, b.forgot = true, b.forgot+1
			i--
			continue
		case result.Alone:
			i--
			continue
		}
		if result.Failure != nil {
			b.t.Fatalf("%s: %s: %v", b.title, task.Input, result.Failure)
		}
		shown = append(shown, output(result))
		if result.Open {
			tail = b.ending(task, result)
		}
	}
	if tail != nil {
		verdict, err := b.session.End(tail)
		if err != nil {
			b.t.Fatal(err)
		}
		if !verdict.Committed {
			if !verdict.Forgot || before.Wary {
				b.t.Fatalf("%s: %s: %+v", b.title, before.Input, verdict)
			}
			before.Wary = true
			b.lane(before)
		}
	}
	return shown
}

// ending writes the end of what has written.
func (b *bench) ending(task *Task, result *Result) *Tail {
	if !result.Wrote && !task.Ours {
		return &Tail{}
	}
	call := Call{Statement: &Statement{"pgtaskd_done", "INSERT INTO public.ended VALUES ($1) RETURNING 1::pg_catalog.int2"}}
	call.Text(&task.Settings[0][1])
	return &Tail{Calls: []Call{call}}
}

// numbered is a task of a lane.
func numbered(id int, input string) *Task {
	task := spec(input)
	task.Ours = !task.Traits.Reads
	task.Settings = [][2]string{{"pg_task.id", fmt.Sprint(id)}, {"pg_task.plan", "x"}}
	return task
}

const numberedEffect = "INSERT INTO effects VALUES (current_setting('pg_task.id')::int8); "

// TestReplacedStatements: whoever replaces a statement of ours, by whatever means, changes nothing
// for others, nor what is written of itself.
func TestReplacedStatements(t *testing.T) {
	t.Parallel()
	for name, means := range map[string]string{
		"function": "SELECT replace_by(suffix, likeness) FROM orders", "view": "SELECT * FROM innocent", "trigger": "INSERT INTO fires VALUES (1)", "late": "INSERT INTO fires_late VALUES (1)",
		"block": "DO $$BEGIN PERFORM replace_by(suffix, likeness) FROM orders; END$$", "procedure": "CALL called()", "fails": "SELECT replace_by(suffix, likeness) / 0 FROM orders",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := attacked(t)
			if !b.session.clean {
				t.Fatal("a session is not clean from its start")
			}
			known := b.everyStatement()
			b.exec("INSERT INTO orders VALUES ('nothing', '')")
			b.attack(name, means, "nothing", "", false) // a control
			if b.forgot > 0 {
				t.Fatal("what replaces nothing is run twice")
			}
			for _, saves := range []bool{false, true} {
				for i, statement := range slices.Sorted(maps.Keys(known)) {
					if !servertest.Thorough && (i+len(name))%2 != 0 {
						continue
					}
					like := likeness(statement, known[statement])
					all := []string{like, ""}
					if name == "late" { // it fails as where a limit is met, or shows nothing
						all = append(all, strings.Replace(like, "meddle()", "cancels()", 1), like+" WHERE false")
					}
					for _, alike := range all {
						b.exec("TRUNCATE effects, ended, orders, fires, fires_late")
						b.exec("INSERT INTO orders VALUES ($1, $2)", strings.TrimPrefix(statement, "pgtaskd_"), alike)
						if i%4 == 0 { // else plpgsql has been at work
							b.session.Close()
							b.open()
						}
						b.attack(name, means, statement, alike, saves)
					}
				}
			}
			if b.forgot == 0 {
				t.Error("nothing was replaced")
			}
		})
	}
}

// everyStatement are those that a session may have prepared.
func (b *bench) everyStatement() map[string]string {
	b.t.Helper()
	all := map[string]string{}
	for _, name := range []string{"pgtaskd_ready_0", "pgtaskd_ready_4", "pgtaskd_ready_8", "pgtaskd_ready_12"} {
		all[name] = "$1 $2"
	}
	for _, st := range []*Statement{
		begin, commit, chain, closeAll, resetAll, unlisten, discardTemp, sequences, ownRole, unprepared, unlocked, own, partly, probe, probeSave, probeCursors,
		{"pgtaskd_done", "$1"},
		{"pgtaskd_clean", ""},
		{"pgtaskd_unruled", ""},
		{"pgtaskd_probe_ahead", ""},
		{"pgtaskd_goes_on", ""},
		{"pgtaskd_input", ""},
	} {
		all[st.Name] = st.SQL
	}
	return all
}

func (b *bench) attack(name, means, statement, alike string, saves bool) {
	b.t.Helper()
	title := fmt.Sprintf("%s of %s by %q, save %t", name, statement, alike, saves)
	b.title = title
	const sees = "SELECT coalesce(nullif(current_setting('my.own', true), ''), 'nothing') || current_setting('pg_task.id')"
	hostile := numbered(3, numberedEffect+means)
	if name == "fails" || name == "procedure" {
		hostile = numbered(3, means)
	}
	switch name {
	case "procedure":
		hostile.Atomic = false
	case "fails":
		result, _ := b.run(hostile, nil)
		if failure(result) != "22012" {
			b.t.Fatal(title, result.Failure)
		}
		hostile = numbered(3, "SELECT 3")
	}
	fourth, want := numbered(4, numberedEffect+sees), []string{"INSERT 0 1", "nothing2", "*", "INSERT 0 1\nnothing4", "nothing5", "INSERT 0 1\nnothing6", "7"}
	if saves { // the next one of its lane may see what it has done
		hostile.Save, fourth.Save, fourth.Keep, want[3] = true, true, true, "*"
	}
	shown := b.lane(numbered(1, numberedEffect), numbered(2, sees), hostile, fourth, numbered(5, sees), numbered(6, numberedEffect+sees), numbered(7, "SELECT 7"))
	if b.t.Failed() {
		b.t.Fatal(title)
	}
	for i, one := range shown {
		if want[i] != "*" && one != want[i] {
			b.t.Errorf("%s: task %d shows %q", title, i+1, one)
		}
	}
	ids := "1 3 4 6"
	if name == "fails" || name == "procedure" {
		ids = "1 4 6"
	}
	for _, table := range []string{"effects", "ended"} {
		if got := b.get("SELECT string_agg(id::text, ' ' ORDER BY id) FROM " + table); got != ids {
			b.t.Errorf("%s: %s %s", title, table, got)
		}
	}
	if err := b.session.Reset(); err != nil {
		b.t.Fatal(title, err)
	}
}

// TestReplacedInAPipeline: what is with the server behind such a task does not run.
func TestReplacedInAPipeline(t *testing.T) {
	t.Parallel()
	b := attacked(t)
	b.exec("CREATE FUNCTION writes() RETURNS int8 LANGUAGE sql AS $$INSERT INTO effects VALUES (5) RETURNING 1::int8$$")
	for _, due := range []bool{false, true} {
		for statement, made := range b.everyStatement() {
			b.exec("TRUNCATE effects, ended, orders")
			b.exec("INSERT INTO orders VALUES ($1, $2)", strings.TrimPrefix(statement, "pgtaskd_"), likeness(statement, made))
			b.session.Close()
			b.open()
			b.lane(numbered(1, "SELECT 1"), numbered(2, "SELECT count(*) FROM orders"))
			tasks := []*Task{numbered(3, "SELECT count(*) FROM orders"), numbered(4, "SELECT replace_by(suffix, likeness) FROM orders"), numbered(5, "SELECT writes()"), numbered(6, "SELECT 6")}
			for _, task := range tasks {
				task.Until = time.Now().Add(time.Hour)
			}
			tasks[2].Traits.Plain, tasks[1].Traits.Plain = false, false
			b.session.unseen = due
			if _, _, err := b.session.Begin(nil, tasks[0], tasks[1:]...); err != nil {
				t.Fatal(err)
			}
			if result, err := b.session.Await(tasks[0]); err != nil || !result.Open {
				t.Fatal(statement, result.Failure, err)
			}
			if _, _, begun, err := b.session.Next(); !begun || err != nil {
				t.Fatal(statement, begun, err)
			}
			result, err := b.session.Await(tasks[1])
			if err != nil || !result.Alone || result.Open || b.session.Behind() != 0 {
				t.Fatalf("%s: %+v %v %v", statement, result, result.Failure, err)
			}
			if n := b.get("SELECT count(*) FROM effects"); n != "0" {
				t.Errorf("%s: %s effects of the one behind it", statement, n)
			}
			b.lane(numbered(4, tasks[1].Input), numbered(5, numberedEffect), numbered(6, numberedEffect))
			for _, table := range []string{"effects", "ended"} {
				if got := b.get("SELECT string_agg(id::text, ' ' ORDER BY id) FROM " + table); got != "5 6" {
					t.Errorf("%s: %s %s", statement, table, got)
				}
			}
		}
	}
}

// TestWhatIsReplacedAtCOMMITHoldsNobodyForLong: the COMMIT is over, and what follows has its time.
func TestWhatIsReplacedAtCOMMITHoldsNobodyForLong(t *testing.T) {
	t.Parallel()
	b := attacked(t)
	b.exec("CREATE FUNCTION holds() RETURNS text LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(60); RETURN ''; END$$")
	b.lane(numbered(1, numberedEffect), numbered(2, numberedEffect), numbered(3, "SELECT 3"))
	b.exec("INSERT INTO orders SELECT name, ' AS SELECT FROM holds()' FROM unnest('{begin,reset,sequences}'::text[]) AS s (name)")
	hostile, next := numbered(4, "INSERT INTO fires_late VALUES (1)"), numbered(5, "SELECT 5")
	result, _ := b.run(hostile, nil)
	b.session.brief = time.Second
	began := time.Now()
	verdict, _, err := b.session.Begin(b.ending(hostile, result), next)
	if verdict == nil || !verdict.Committed || !errors.As(err, new(*Lost)) {
		t.Errorf("%+v, %v", verdict, err)
	}
	if took := time.Since(began); took > servertest.Limit(10*time.Second) {
		t.Errorf("it has taken %v", took)
	}
}

// TestReplacedByAFunctionOfSQL: such a function holds the statements it was written with. It knows
// no name of ours; if it was written for this very session, it is found out within a second.
func TestReplacedByAFunctionOfSQL(t *testing.T) {
	t.Parallel()
	b := attacked(t)
	b.lane(numbered(1, numberedEffect), numbered(2, "SELECT count(*) FROM ends"))
	body := ""
	for name, statement := range b.session.known {
		if name == closeAll.Name || name == commit.Name { // what returns a row, or does not commit, is found out at once
			continue
		}
		body += fmt.Sprintf("DEALLOCATE %q; PREPARE %[1]q%s; ", b.session.named(name), likeness(name, statement))
	}
	b.exec("CREATE FUNCTION rewrites() RETURNS int4 LANGUAGE sql AS $a$" + body + "SELECT 1$a$")
	b.lane(numbered(3, "SELECT rewrites()"))
	b.session.renamed = time.Time{} // a second is over
	b.exec("TRUNCATE effects, ended")
	seen := b.lane(numbered(4, numberedEffect), numbered(5, "SELECT coalesce(nullif(current_setting('my.own', true), ''), 'nothing')"))
	if got := b.get("SELECT string_agg(id::text, ' ') FROM effects") + b.get("SELECT string_agg(id::text, ' ') FROM ended"); got != "44" || seen[1] != "nothing" {
		t.Error(got, seen)
	}
}

// TestPreparedByFunctions: what a function has prepared, in whatever language, is not there for the
// next task.
func TestPreparedByFunctions(t *testing.T) {
	t.Parallel()
	b := attacked(t)
	b.exec("CREATE FUNCTION prepares_foo() RETURNS int4 LANGUAGE sql AS $$PREPARE foo AS SELECT 1; SELECT 1$$; CREATE VIEW prepares_foo AS SELECT prepares_foo()")
	b.session.Close()
	b.open()
	for _, input := range []string{"SELECT prepares_foo()", "SELECT * FROM prepares_foo", "DO $$BEGIN PERFORM prepares_foo(); END$$", "PREPARE foo AS SELECT 2"} {
		shown := b.lane(numbered(1, input), numbered(2, "PREPARE foo AS SELECT 3; EXECUTE foo"), numbered(3, "SELECT 4"))
		if shown[1] != "PREPARE\n3" {
			t.Errorf("%s: %q", input, shown)
		}
	}
}
