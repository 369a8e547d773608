package smoke

import "testing"

// TestOwnTriggers: the user's own columns, constraints and triggers need not name the schema of the
// objects that they use.
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

// TestTriggerRefusesTheEnd: a trigger that refuses DONE undoes nothing that the task has done, and
// causes no other end: the row stays marked or prepared. Other tasks go on.
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

// TestTriggerRefusesAnyEnd: a trigger that refuses all changes of a row must not delay other tasks.
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
