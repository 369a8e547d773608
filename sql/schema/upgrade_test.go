package schema

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// earlier makes what a version before has made for a table under names with its hash.
func earlier(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	execute(t, conn, strings.ReplaceAll(`ALTER INDEX task_open_idx RENAME TO pgtaskd_open_$h; ALTER INDEX task_one_waits_idx RENAME TO pgtaskd_wait_key_$h;
		ALTER INDEX task_repeats_idx RENAME TO pgtaskd_repeating_$h; ALTER TABLE task_session RENAME TO pgtaskd_session_$h; ALTER SEQUENCE task_group_changes RENAME TO pgtaskd_group_$h; COMMENT ON TABLE task_group IS 'Old (pgtaskd schema 1 0)';
		ALTER TABLE task DROP COLUMN xact, DROP COLUMN xact_at; INSERT INTO pgtaskd_session_$h VALUES (1, now());
		CREATE DOMAIN pgtaskd_call_$h AS text; CREATE TABLE pgtaskd_token_$h (pid int4, token bytea);
		CREATE FUNCTION pgtaskd_cron_$h(pgtaskd_call_$h) RETURNS text LANGUAGE sql AS 'SELECT NULL::text';
		CREATE FUNCTION pgtaskd_accept_$h() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
		CREATE FUNCTION pgtaskd_own_$h() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION $$own$$; END';
		DROP TRIGGER pgtaskd_accept ON task; CREATE TRIGGER pgtaskd_accept BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION pgtaskd_accept_$h();
		CREATE TRIGGER pgtaskd_own AFTER UPDATE ON task FOR EACH ROW EXECUTE FUNCTION pgtaskd_own_$h();
		DROP VIEW task_run; CREATE FUNCTION pgtaskd_run_$h(pgtaskd_call_$h) RETURNS TABLE (id int8, "group" text, key text, since timestamptz, pid int4, wait_event text, blocked_by int4[],
			query text) LANGUAGE sql AS 'SELECT * FROM pgtaskd_run($$task$$)';
		CREATE VIEW task_run AS SELECT * FROM pgtaskd_run_$h((NULL::pgtaskd_call_$h[])[1]); COMMENT ON VIEW task_run IS 'Old (pgtaskd schema 1 0)';
		DROP FUNCTION task_why(int8); CREATE FUNCTION task_why(id int8, OUT reason pgtaskd_call_$h) LANGUAGE sql AS 'SELECT NULL::text'; COMMENT ON FUNCTION task_why(int8) IS 'Old (pgtaskd schema 1 0)'`,
		"$h", task.Hash()))
}

// TestATableOfTheVersionBeforeIsTakenOver, and nothing of that version is left. Where nothing may
// be made, it is told that runs cannot be prepared. The script, which knows no more than names,
// leaves what is not in the way.
func TestATableOfTheVersionBeforeIsTakenOver(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	earlier(t, conn)
	script(t, conn, task, Options{})
	execute(t, conn, "INSERT INTO task (input) VALUES (''); UPDATE task SET data = 'x'; SELECT * FROM task_run; SELECT task_why(1)")
	conn = furnished(t)
	earlier(t, conn)
	if d := described(t, conn, task); d.Xact {
		t.Error("there is no column xact")
	}
	install(t, conn, task, nil)
	complete(t, conn, task, nil)
	if d := described(t, conn, task); !d.Xact || d.Register == 0 || d.GroupSequence == 0 {
		t.Errorf("%+v", d)
	}
	equal(t, "what is left", value(t, conn, strings.ReplaceAll(`SELECT concat((SELECT string_agg(proname, ' ') FROM pg_proc WHERE proname ~ '$h'),
		(SELECT string_agg(relname, ' ') FROM pg_class WHERE relname ~ '$h'), (SELECT string_agg(typname, ' ') FROM pg_type WHERE typname ~ '$h'),
		(SELECT string_agg(tgname, ' ') FROM pg_trigger WHERE tgname = 'pgtaskd_own'))`, "$h", task.Hash())), "")
	execute(t, conn, "INSERT INTO task (input) VALUES (''); UPDATE task SET data = 'x'; SELECT * FROM task_run; SELECT task_why(1)")
}
