package sql

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// before is a transaction of bob's that sees the catalogs as they are now.
func (b *bobs) before() {
	b.Helper()
	execute(b.T, b.conn, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
}

// TestATransactionOfBeforeFiresNothingOfANewOwners: it sees who owned the table, and the columns,
// when it began, and triggers and casts as they are.
func TestATransactionOfBeforeFiresNothingOfANewOwners(t *testing.T) {
	t.Parallel()
	const cast = "CREATE TYPE bob.evil AS ENUM ('a'); CREATE FUNCTION bob.cast(bob.evil) RETURNS json LANGUAGE plpgsql AS $$BEGIN RAISE 'bob reads as %', current_user; END$$; " +
		"CREATE CAST (bob.evil AS json) WITH FUNCTION bob.cast(bob.evil); "
	for name, c := range map[string]struct{ trigger, owner, meanwhile, values string }{
		"table":  {"FOR EACH ROW EXECUTE FUNCTION task_async('SELECT 1', 'group=a-%s', 'a')", "ALTER TABLE task OWNER TO $bob", "CREATE TRIGGER evil BEFORE INSERT ON task FOR EACH STATEMENT EXECUTE FUNCTION bob.fire()", "1"},
		"column": {"FOR EACH ROW EXECUTE FUNCTION task_async('SELECT 1', 'group=a-%s', 'a')", "SELECT 1", cast + "ALTER TABLE bob.stock ADD COLUMN b bob.evil", "1, 'a'"},
		"type":   {"FOR EACH ROW EXECUTE FUNCTION task_async('SELECT 1', 'group=a-%s', 'a')", "SELECT 1", cast + "ALTER TABLE bob.stock ALTER COLUMN a TYPE bob.evil USING 'a'", "'a'"},
		"rows":   {forEachStatement, "SELECT 1", cast + "ALTER TABLE bob.stock ADD COLUMN b bob.evil", "1, 'a'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBobs(t, c.trigger)
			b.before()
			execute(t, b.owner, strings.ReplaceAll(c.owner, "$bob", b.role)+"; SET ROLE "+b.role+"; "+c.meanwhile+"; RESET ROLE")
			_, err := b.conn.Exec(t.Context(), "INSERT INTO bob.stock VALUES ("+c.values+")")
			b.none(err, "changed since this transaction began")
			if !isState(err, "40001") {
				t.Errorf("nobody tries it again: %v", err)
			}
			execute(t, b.conn, "ROLLBACK")
		})
	}
}

// TestATransactionOfBeforeCallsNothingOfANewOwnerOfTheSchema, who has dropped what was there.
func TestATransactionOfBeforeCallsNothingOfANewOwnerOfTheSchema(t *testing.T) {
	t.Parallel()
	b := newBobs(t, "FOR EACH ROW EXECUTE FUNCTION task_async('SELECT 1')")
	b.before()
	execute(t, b.owner, "ALTER SCHEMA public OWNER TO "+b.role+"; SET ROLE "+b.role+"; "+strings.ReplaceAll("DROP DOMAIN public.pgtaskd_call_$h CASCADE; CREATE DOMAIN public.pgtaskd_call_$h AS text; "+
		"CREATE FUNCTION public.pgtaskd_async_columns_$h(public.pgtaskd_call_$h) RETURNS text[] LANGUAGE plpgsql AS $$BEGIN RAISE 'bob calls as %', current_user; END$$", "$h", task.hash())+"; RESET ROLE")
	_, err := b.conn.Exec(t.Context(), "INSERT INTO bob.stock VALUES (1)")
	b.none(err, "is not the one that the function was made for")
	execute(t, b.conn, "ROLLBACK")
}

// TestATransactionOfBeforeCallsNoFunctionOfANewOwnerOfTheSchema, who has dropped one of those that
// are called, and made one that takes a text.
func TestATransactionOfBeforeCallsNoFunctionOfANewOwnerOfTheSchema(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"async_columns($call)", "async_unset($call)", "async_default($call)", "async_usual($call)", "async_insert($call, text, text[], text[], text[])"} {
		for _, argument := range []string{"group=a", "key=a"} {
			t.Run(call+argument, func(t *testing.T) {
				t.Parallel()
				b := newBobs(t, "FOR EACH ROW EXECUTE FUNCTION task_async('SELECT 1', '"+argument+"')")
				b.before()
				b.giveSchema(call)
				_, err := b.conn.Exec(t.Context(), "INSERT INTO bob.stock VALUES (1)")
				b.none(err, "changed since this transaction began")
				execute(t, b.conn, "ROLLBACK")
			})
		}
	}
}

// TestATransactionOfBeforeInsertsIntoNoNewPartitionOfAStrangers, which it does not see.
func TestATransactionOfBeforeInsertsIntoNoNewPartitionOfAStrangers(t *testing.T) {
	t.Parallel()
	b := parted(t)
	execute(t, b.owner, "TRUNCATE early")
	b.before()
	execute(t, b.owner, "CREATE TABLE late PARTITION OF parted FOR VALUES FROM (now() - '1 day'::interval) TO ('infinity'); ALTER TABLE late OWNER TO "+b.role+
		"; SET ROLE "+b.role+"; CREATE TRIGGER evil BEFORE INSERT ON public.late FOR EACH ROW EXECUTE FUNCTION bob.fire(); RESET ROLE")
	_, err := b.conn.Exec(t.Context(), "INSERT INTO bob.stock VALUES (2)")
	b.none(err, "changed since this transaction began")
	execute(t, b.conn, "ROLLBACK")
}

// TestATransactionOfBeforeGoesOnBesideAGrant that is under way, or was rolled back.
func TestATransactionOfBeforeGoesOnBesideAGrant(t *testing.T) {
	t.Parallel()
	b := newBobs(t, forEachStatement)
	execute(t, b.owner, "GRANT SELECT ON task TO "+b.role)
	b.before()
	execute(t, b.owner, "BEGIN; GRANT DELETE ON task TO "+b.role)
	for range 2 {
		execute(t, b.conn, "INSERT INTO bob.stock VALUES (1); SELECT task_why(1), * FROM task_stat")
		execute(t, b.owner, "ROLLBACK")
	}
	equal(t, "tasks", value(t, b.conn, "SELECT count(*) FROM task"), "2")
	execute(t, b.conn, "ROLLBACK")
}

// TestATransactionOfBeforeReadsNothingOfANewOwners: a policy of theirs would run as who asks.
func TestATransactionOfBeforeReadsNothingOfANewOwners(t *testing.T) {
	t.Parallel()
	b := newBobs(t, forEachStatement)
	mallory := stranger(t, b.owner, "mallory")
	execute(t, b.owner, "GRANT SELECT ON task TO "+b.role+"; INSERT INTO task (input, repeat) VALUES ('', '1 day'); CREATE SCHEMA mallory AUTHORIZATION "+mallory)
	for _, statement := range []string{"SELECT task_why(1)", "SELECT * FROM task_run", "SELECT * FROM task_stat", "SELECT * FROM task_error", "SELECT * FROM task_schedule"} {
		b.before()
		execute(t, b.owner, "ALTER TABLE task OWNER TO "+mallory+"; SET ROLE "+mallory+"; GRANT USAGE ON SCHEMA mallory TO PUBLIC; "+
			"CREATE OR REPLACE FUNCTION mallory.reads() RETURNS bool LANGUAGE plpgsql AS $$BEGIN RAISE 'mallory reads as %', current_user; END$$; "+
			"CREATE POLICY evil ON task USING (mallory.reads()); ALTER TABLE task ENABLE ROW LEVEL SECURITY; RESET ROLE")
		_, err := b.conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol)
		if !isState(err, "40001") && (serverVersion(b.owner) >= 150000 || !isState(err, "42501")) { // views are for their owner there
			t.Errorf("%s: %v", statement, err)
		}
		execute(t, b.conn, "ROLLBACK")
		execute(t, b.owner, "DROP POLICY evil ON task; ALTER TABLE task OWNER TO postgres")
	}
}

// TestATransactionOfBeforeDoesNotWriteRoles of others any more, once its own owns the table no more.
func TestATransactionOfBeforeDoesNotWriteRoles(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	owner, conn := connect(t, dsn), connect(t, dsn)
	alice := stranger(t, owner, "alice")
	employ(t, owner)
	execute(t, owner, "ALTER TABLE task OWNER TO "+alice)
	execute(t, conn, "SET SESSION AUTHORIZATION "+alice)
	const insert = "INSERT INTO task (input, role) VALUES ('', 'postgres')"
	execute(t, conn, insert)
	execute(t, conn, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
	execute(t, owner, "ALTER TABLE task OWNER TO postgres; GRANT INSERT ON task TO "+alice+"; GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO "+alice)
	refused(t, conn, insert, "40001")
	execute(t, conn, "ROLLBACK")
	execute(t, conn, "BEGIN ISOLATION LEVEL REPEATABLE READ; "+insert+"; COMMIT")
	equal(t, "roles", tasks(t, owner, "role"), "postgres; "+alice)
}

// TestATransactionOfBeforeIsNoMemberOfARoleThatHasTakenAName of one that it is a member of.
func TestATransactionOfBeforeIsNoMemberOfARoleThatHasTakenAName(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	owner, conn := connect(t, dsn), connect(t, dsn)
	alice, bob := stranger(t, owner, "alice"), stranger(t, owner, "bob")
	employ(t, owner)
	execute(t, owner, "GRANT "+bob+" TO "+alice+"; GRANT INSERT, SELECT, UPDATE ON task TO PUBLIC; GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO PUBLIC; SET ROLE "+bob+"; INSERT INTO task (input) VALUES (''); RESET ROLE")
	execute(t, conn, "SET SESSION AUTHORIZATION "+alice+"; UPDATE task SET input = '1'")
	execute(t, conn, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
	execute(t, owner, "ALTER ROLE "+bob+" RENAME TO "+bob+"_2; CREATE ROLE "+bob)
	refused(t, conn, "UPDATE task SET input = '2'", "42501")
	execute(t, conn, "ROLLBACK")
	execute(t, owner, "DROP ROLE "+bob+"; ALTER ROLE "+bob+"_2 RENAME TO "+bob)
}
