package work

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// keptLocked has a role without a right to it keep a relation locked, by a statement that is refused
// only when it has waited for another lock of theirs. free ends that.
func (c *company) keptLocked(role, relation, statement string) (free func()) {
	c.t.Helper()
	holder, stranger := c.as(role), c.as(role)
	must(c.t, holder, "CREATE TABLE mine.locked (id int4)")
	must(c.t, holder, "BEGIN; LOCK TABLE mine.locked")
	refused := c.waits(stranger, strings.ReplaceAll(statement, "$relation", relation))
	return func() {
		c.t.Helper()
		must(c.t, holder, "ROLLBACK")
		<-refused
	}
}

// waits has a statement wait for a lock, and tells its error when it has ended.
func (s *stage) waits(conn *pgx.Conn, statement string) (ended <-chan error) {
	s.t.Helper()
	answer := make(chan error, 1)
	go func() {
		_, err := conn.Exec(s.t.Context(), statement)
		answer <- err
	}()
	s.eventually("Lock", "SELECT wait_event_type FROM pg_stat_activity WHERE pid = $1", int32(conn.PgConn().PID()))
	return answer
}

// robbed is a company whose schema $bob can put another one in the place of, with a function that
// tells whom it runs as.
func robbed(t *testing.T) *company {
	t.Helper()
	c := employed(t)
	c.exec(c.named("GRANT CREATE ON DATABASE $database TO $bob"))
	c.must(c.bob, `CREATE SCHEMA mine; GRANT USAGE ON SCHEMA mine TO PUBLIC; CREATE SEQUENCE mine.calls; GRANT USAGE ON mine.calls TO PUBLIC;
		CREATE FUNCTION mine.proves() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM nextval('mine.calls') WHERE current_user <> '$bob'; RETURN NULL; END$$`)
	return c
}

// gated is a task of $alice's that has had an effect, and goes on when gate commits.
func (c *company) gated() (id int64, gate *pgx.Conn) {
	c.t.Helper()
	c.exec("CREATE TABLE gate (); GRANT ALL ON gate TO PUBLIC")
	gate = c.connect()
	must(c.t, gate, "BEGIN; LOCK TABLE gate")
	c.must(c.alice, "CREATE TABLE effect (id int8)")
	id = c.asks(c.alice, "INSERT INTO effect VALUES (1); SELECT FROM gate")
	c.eventually("1", "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND wait_event_type = 'Lock'", c.alice)
	return id, gate
}

// isFooled fails the test where something of the thief's has run as somebody else.
func (c *company) isFooled() {
	c.t.Helper()
	if c.get("SELECT is_called FROM mine.calls") != "false" { // which no rollback takes back
		c.t.Error("something of theirs has run")
	}
}

// TestWhoWaitsForALockTakesNoTokenOfOthers: the schema is renamed while the function that writes ends
// waits for a lock that a stranger holds, and has a view of theirs for the table of tokens then.
func TestWhoWaitsForALockTakesNoTokenOfOthers(t *testing.T) {
	t.Parallel()
	c := robbed(t)
	c.drain()
	tokens, end := c.tokens()
	number := c.get("SELECT '" + tokens + "'::regclass::oid::int8")
	free := c.keptLocked(c.bob, tokens, "CREATE RULE r AS ON UPDATE TO $relation DO ALSO SELECT * FROM mine.locked")
	caller, thief := c.as(c.bob), c.as(c.bob)
	must(t, caller, "CREATE TABLE mine.tokens (pid int4, token bytea); GRANT ALL ON mine.tokens TO PUBLIC; INSERT INTO mine.tokens VALUES (pg_backend_pid(), sha256('x'))")
	ended := c.waits(caller, "SELECT "+end+`('x', sha256('y'), 'pg_catalog', '{"SELECT nextval(''mine.calls'')"}', '{}')`)
	c.exec("ALTER SCHEMA public RENAME TO renamed")
	must(t, thief, "CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC; CREATE VIEW "+tokens+" AS SELECT pid, token, "+number+
		"::oid AS tableoid, '3'::xid AS xmin FROM mine.tokens; GRANT ALL ON "+tokens+" TO PUBLIC")
	free()
	if err := <-ended; !isDenied(err) {
		t.Error(err)
	}
	c.isFooled()
}

// TestAnEndThatWaitsForALockIsWrittenToNoTableOfOthers: the schema is renamed while the end of a task
// waits for a lock that a stranger holds, and has a table of theirs then.
func TestAnEndThatWaitsForALockIsWrittenToNoTableOfOthers(t *testing.T) {
	t.Parallel()
	c := robbed(t)
	id, gate := c.gated()
	c.becomes(id, "WORK")
	free := c.keptLocked(c.bob, "task", "CREATE CONSTRAINT TRIGGER t AFTER UPDATE ON $relation FROM mine.locked FOR EACH ROW EXECUTE FUNCTION mine.proves()")
	must(t, gate, "COMMIT")
	c.eventually("1", "SELECT count(*) FROM pg_stat_activity AS a JOIN pg_locks AS l USING (pid) WHERE usename = $1 AND NOT granted AND relation = 'task'::regclass", c.alice)
	c.exec("ALTER SCHEMA public RENAME TO renamed")
	c.must(c.bob, "CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC; CREATE TABLE public.task (LIKE renamed.task); GRANT ALL ON public.task TO PUBLIC; "+
		"CREATE TRIGGER t BEFORE INSERT OR UPDATE ON public.task FOR EACH STATEMENT EXECUTE FUNCTION mine.proves()")
	free()
	c.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND state <> 'idle'", c.alice)
	c.drain()
	c.isFooled()
	if n := c.get("SELECT count(*) FROM renamed.effect"); n != "0" {
		t.Errorf("its effects stay: %s", n)
	}
}

// TestNoFunctionOfOthersLearnsAToken: the schema is renamed while a task runs, and a stranger's
// function has the name of the one that writes its end.
func TestNoFunctionOfOthersLearnsAToken(t *testing.T) {
	t.Parallel()
	c := robbed(t)
	_, gate := c.gated()
	_, end := c.tokens()
	call := strings.Replace(end, "_end_", "_call_", 1)
	c.exec("ALTER SCHEMA public RENAME TO renamed")
	c.must(c.bob, "CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC; CREATE DOMAIN "+call+" AS text; CREATE FUNCTION "+end+"(bytea, bytea, "+call+
		", text[], text[]) RETURNS void LANGUAGE sql AS $$SELECT nextval('mine.calls'); SELECT$$")
	must(t, gate, "COMMIT")
	c.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND state <> 'idle'", c.alice)
	c.isFooled()
	if n := c.get("SELECT count(*) FROM renamed.effect"); n != "0" {
		t.Errorf("its effects stay: %s", n)
	}
}
