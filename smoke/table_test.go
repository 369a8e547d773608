package smoke

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Names that must be quoted, some of them as long as names can be.
func TestNames(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	long := strings.Repeat("ü", 31) + "x"
	names := [][2]string{
		{`it's "a schema"; DROP`, `it's "a table"; DROP`},
		{long, long},
		{"SELECT", "User"},
		{"%s :table $1", `back\slash :schema`},
		{"public", "task\nand\ttab"},
	}
	var targets []object
	for _, name := range names {
		targets = append(targets, object{"schema": name[0], "table": name[1]})
	}
	s := serve(t, database, targets...)
	for _, name := range names {
		u := s.user(t)
		u.table = pgx.Identifier{name[0], name[1]}.Sanitize()
		row := u.becomes(u.add("input, repeat", literal("SELECT current_setting('pg_task.schema') = "+literal(name[0])+
			", current_setting('pg_task.table') = "+literal(name[1]))+", '1 day'"), "DONE")
		u.shows(row, "output", "?column?\t?column?\nt\tt")
		u.is("(SELECT count(*) FROM "+u.table+" WHERE parent = $1)", "1", row.text("id"))
		id := u.add("input", "'SELECT pg_sleep(30)'")
		u.becomes(id, "WORK")
		u.exec("UPDATE " + u.table + " SET state = 'STOP' WHERE id = " + id)
		u.until("SELECT stop IS NOT NULL FROM "+u.table+" WHERE id = $1", id)
	}
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Columns, constraints and triggers of the user's own, which need not name the schema of what they
// use.
func TestOwnTriggers(t *testing.T) {
	t.Parallel()
	for _, history := range []string{"public.history", "history"} {
		t.Run(history, func(t *testing.T) {
			t.Parallel()
			u := own(t, object{}).user(t)
			u.exec(`ALTER TABLE task ADD COLUMN mine text NOT NULL DEFAULT 'x' CHECK (mine <> '');
				CREATE TABLE history (id int8, state text);
				CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO ` + history + ` VALUES (NEW.id, NEW.state); RETURN NULL; END $$;
				CREATE TRIGGER note AFTER UPDATE OF state ON task FOR EACH ROW EXECUTE FUNCTION note()`)
			for _, input := range []string{"'SELECT 1'", "'CREATE TEMP TABLE x ()'", "'BEGIN; COMMIT'", "'SET ROLE pg_monitor; SELECT 1'"} {
				id := u.add("input", input)
				u.becomes(id, "DONE")
				u.is("(SELECT string_agg(state, ' ') LIKE '%DONE' FROM history WHERE id = $1)", "t", id)
			}
		})
	}
}

// A trigger that refuses DONE takes nothing back of what its task has done, and makes no other end
// of it: the row stays as it was marked or prepared. Others go on.
func TestTriggerRefusesTheEnd(t *testing.T) {
	t.Parallel()
	u := own(t, object{}).user(t)
	u.exec(`CREATE TABLE effect (a int);
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF NEW.data = 'raise' THEN RAISE EXCEPTION 'not this one' USING ERRCODE = 'PT123'; END IF;
			IF NEW.data = 'skip' THEN RETURN NULL; END IF;
			RETURN NEW;
		END $$;
		CREATE TRIGGER refuse BEFORE UPDATE OF state ON task FOR EACH ROW WHEN (NEW.state = 'DONE') EXECUTE FUNCTION refuse()`)
	for _, data := range []string{"raise", "skip"} {
		u.becomes(u.add("data, input", "'"+data+"', 'SELECT 1'"), "WORK")
		id := u.add("data, input", "'"+data+"', 'INSERT INTO effect VALUES (1)'")
		u.until("SELECT xact IS NOT NULL AND state = 'WORK' AND txid_status(xact) = 'committed' FROM task WHERE id = $1", id)
		u.becomes(u.add("input", "'SELECT 1'"), "DONE")
	}
	u.is("(SELECT count(*) FROM effect)", "2")
}

// What a trigger makes of a row, when it lets nothing be written, must not hold up the others.
func TestTriggerRefusesAnyEnd(t *testing.T) {
	t.Parallel()
	u := own(t, object{}).user(t)
	u.exec(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'never'; END $$;
		CREATE TRIGGER refuse BEFORE UPDATE OF state ON task FOR EACH ROW WHEN (NEW.state IN ('DONE', 'FAIL') AND NEW.data = 'never') EXECUTE FUNCTION refuse()`)
	never := u.add("data, input", "'never', 'SELECT 1'")
	u.until("SELECT state <> 'PLAN' FROM task WHERE id = $1", never)
	for range 3 {
		u.becomes(u.add(`"group", input`, "'others', 'SELECT 1'"), "DONE")
	}
	if attempt := u.task(never).text("attempt"); attempt > "3" || len(attempt) > 1 {
		t.Errorf("it has been tried %s times", attempt)
	}
}

// Tasks that touch their own rows.
func TestTaskTouchesItsOwnRow(t *testing.T) {
	t.Parallel()
	u := own(t, object{}).user(t)
	u.exec("CREATE TABLE effect (a text)")
	const mine = " WHERE id = current_setting(''pg_task.id'')::int8"

	for _, update := range []string{"data = ''seen'', priority = 3", "state = ''PLAN''", "state = ''DONE''", "pid = 1", "state = ''STOP''"} {
		row := u.becomes(u.add("input", "'INSERT INTO effect VALUES (1); UPDATE task SET "+update+mine+"'"), "DONE")
		u.shows(row, "attempt", "1", "error", "NULL")
		if strings.HasPrefix(update, "data") {
			u.shows(row, "data", "seen", "priority", "3")
		}
	}
	u.is("(SELECT count(*) FROM effect)", "5")

	// Gone with its end, by its own doing or while it ran.
	for _, input := range []string{"DELETE FROM task" + mine, "BEGIN; DELETE FROM task" + mine + "; COMMIT", "BEGIN; DELETE FROM task" + mine + "; COMMIT; SELECT pg_sleep(0.3)"} {
		id := u.add("input", "'"+input+"'")
		u.until("SELECT NOT EXISTS (SELECT FROM task WHERE id = $1 AND state NOT IN ('DONE', 'FAIL'))", id)
	}
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
	u.exec("DELETE FROM task")
	u.add("input", "'BEGIN; TRUNCATE task; COMMIT'")
	u.until("SELECT NOT EXISTS (SELECT FROM task)")
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
}

// Tasks that touch their table.
func TestTaskTouchesItsTable(t *testing.T) {
	t.Parallel()
	u := own(t, object{}).user(t)
	u.add("input", "'TRUNCATE task'")
	u.until("SELECT NOT EXISTS (SELECT FROM task WHERE state NOT IN ('DONE', 'FAIL'))")
	u.becomes(u.add("input", "'LOCK TABLE task; SELECT pg_sleep(0.5)'"), "DONE")
	u.becomes(u.add("input", "'ALTER TABLE task ADD COLUMN more int'"), "DONE")
	u.becomes(u.add("input", "'VACUUM FULL task'"), "DONE")
	u.becomes(u.add("input", "'REINDEX TABLE task'"), "DONE")
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
}

func TestPartitions(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	u := connect(t, postgres.DSN(database))
	u.exec(printed(t))
	u.exec(`ALTER TABLE task RENAME TO model; CREATE TABLE task (LIKE model INCLUDING DEFAULTS INCLUDING GENERATED) PARTITION BY RANGE (plan);
		CREATE TABLE task_old PARTITION OF task FOR VALUES FROM (MINVALUE) TO ('2026-01-01');
		CREATE TABLE task_new PARTITION OF task FOR VALUES FROM ('2026-01-01') TO (MAXVALUE);
		ALTER SEQUENCE task_id_seq OWNED BY NONE; DROP TABLE model`)
	serve(t, database, object{})
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
	u.becomes(u.add("input, plan", "'SELECT 1', '2020-01-01'"), "GONE")
	id := u.add("input, plan, active, repeat", "'SELECT 1', '2020-01-01', '0', '1 day'")
	next := u.becomes(id, "DONE").text("next")
	u.is("(SELECT tableoid::regclass FROM task WHERE id = $1)", "task_new", next)
	u.exec("INSERT INTO task_new (input, \"group\") VALUES ('SELECT 2', 'straight')")
	u.until("SELECT state = 'DONE' FROM task WHERE \"group\" = 'straight'")
	// A retry that moves the row to another partition.
	id = u.add("input, plan, active, retry, backoff", "'SELECT 1/0', '2020-01-01', '0', 1, '100 ms'")
	u.shows(u.becomes(id, "FAIL"), "attempt", "2")
	id = u.add("input", "'SELECT pg_sleep(30)'")
	u.becomes(id, "WORK")
	u.exec("UPDATE task SET state = 'STOP' WHERE id = " + id)
	u.until("SELECT stop IS NOT NULL FROM task WHERE id = $1", id)
}
