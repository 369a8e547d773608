package work

import (
	"strings"
	"testing"
)

// tokens is the table of tokens, and the function by which they serve.
func (c *company) tokens() (table, end string) {
	c.t.Helper()
	hash := strings.TrimPrefix(c.get("SELECT proname FROM pg_proc WHERE proname LIKE 'pgtaskd_end_%'"), "pgtaskd_end_")
	return "public.pgtaskd_token_" + hash, "public.pgtaskd_end_" + hash
}

// writesAll is a role of the test's that may write all tables.
func (c *company) writesAll(role string) {
	c.t.Helper()
	if c.get("SELECT current_setting('server_version_num')::int4 >= 140000") != "true" {
		c.t.Skip("no role may write all tables")
	}
	c.exec(c.named("GRANT pg_write_all_data TO " + role))
}

// TestWhoMayWriteAllTablesTakesNoToken away: what runs ends as if they had not tried.
func TestWhoMayWriteAllTablesTakesNoToken(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.writesAll("$bob")
	tokens, _ := c.tokens()
	c.exec("CREATE TABLE gate (); GRANT ALL ON gate TO PUBLIC")
	lock := c.connect()
	if _, err := lock.Exec(t.Context(), "BEGIN; LOCK TABLE gate"); err != nil {
		t.Fatal(err)
	}
	c.must(c.alice, "CREATE TABLE effect (id int8)")
	id := c.asks(c.alice, "INSERT INTO effect VALUES (1); SELECT FROM gate", `"delete"`, "false")
	c.eventually("1", "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND wait_event_type = 'Lock'", c.alice)
	for _, sql := range []string{"DELETE FROM ", "TRUNCATE "} {
		if err := c.does(c.bob, sql+tokens); !isDenied(err) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if _, err := lock.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	c.becomes(id, "DONE")
	if runs := c.get("SELECT attempt FROM task WHERE id = $1", id); runs != "1" {
		t.Errorf("it has run %s times", runs)
	}
}

// TestATokenOfOthersDoesNotServe, which they have written while the trigger that keeps them from it
// was off for a moment: not then, nor when a leader has come to see it, at work or after a restart.
func TestATokenOfOthersDoesNotServe(t *testing.T) {
	t.Parallel()
	for name, off := range map[string][2]string{
		"for a restore": {"DISABLE TRIGGER ALL", "ENABLE TRIGGER ALL"},
		"for a while":   {"DISABLE TRIGGER pgtaskd_token", "ENABLE ALWAYS TRIGGER pgtaskd_token"},
	} {
		for _, at := range []string{"work", "a restart"} {
			t.Run(name+", at "+at, func(t *testing.T) {
				t.Parallel()
				c := employed(t)
				c.writesAll("$bob")
				c.becomes(c.asks(c.alice, "SELECT 1"), "DONE") // a session of hers lies ready
				tokens, end := c.tokens()
				served := c.get("SELECT '" + tokens + "'::regclass::oid::int8")
				if at == "a restart" {
					c.drain()
				}
				bob := c.as(c.bob)
				forged := "INSERT INTO " + tokens + " VALUES (pg_backend_pid(), sha256('x'))"
				ends := c.named("SELECT " + end + `('x', sha256('x'), 'pg_catalog', '{"CREATE TABLE public.forged ()"}', '{}')`)
				if _, err := bob.Exec(t.Context(), forged); !isDenied(err) {
					t.Fatal(err)
				}
				c.exec("BEGIN; ALTER TABLE " + tokens + " " + off[0] + "; COMMIT")
				_, err := bob.Exec(t.Context(), forged)
				if err != nil && at != "work" { // else it may have been made again by now
					t.Fatal(err)
				}
				if _, err := bob.Exec(t.Context(), ends); !isDenied(err) {
					t.Errorf("the forged token serves at once: %v", err)
				}
				if at == "a restart" {
					c.exec("ALTER TABLE " + tokens + " " + off[1])
					c.serve()
				}
				c.eventually("true", "SELECT coalesce((SELECT oid <> $1::int8 FROM pg_class WHERE oid = to_regclass($2)), false)", served, tokens)
				if _, err := bob.Exec(t.Context(), ends); !isDenied(err) {
					t.Errorf("the forged token serves: %v", err)
				}
				if n := c.get("SELECT count(*) FROM pg_class WHERE relname = 'forged'"); n != "0" {
					t.Error("bob has had SQL run")
				}
				for range 2 {
					c.becomes(c.asks(c.alice, "SELECT 1"), "DONE")
				}
			})
		}
	}
}

// TestTasksUnderWayOutliveTheirTokens: where the table of tokens is made again, what runs is rolled
// back and runs again, and nothing has effects twice.
func TestTasksUnderWayOutliveTheirTokens(t *testing.T) {
	t.Parallel()
	c := employed(t)
	tokens, _ := c.tokens()
	c.exec("CREATE TABLE gate (); GRANT ALL ON gate TO PUBLIC")
	c.must(c.alice, "CREATE TABLE effect (id int8)")
	lock := c.connect()
	if _, err := lock.Exec(t.Context(), "BEGIN; LOCK TABLE gate"); err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for range 3 {
		ids = append(ids, c.asks(c.alice, "INSERT INTO effect VALUES (current_setting('pg_task.id')::int8); SELECT FROM gate", `"delete"`, "false", `"max"`, "9", "rerun", "false"))
	}
	c.eventually("3", "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND wait_event_type = 'Lock'", c.alice)
	before := c.get("SELECT '" + tokens + "'::regclass::oid::int8")
	c.exec("ALTER TABLE " + tokens + " DISABLE TRIGGER ALL")
	c.eventually("true", "SELECT coalesce((SELECT oid <> $1::int8 FROM pg_class WHERE oid = to_regclass($2)), false)", before, tokens)
	if _, err := lock.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		c.becomes(id, "DONE")
	}
	if n := c.get("SELECT count(*) || ' ' || count(DISTINCT id) FROM effect"); n != "3 3" {
		t.Error("effects: ", n)
	}
}

// TestARightToReadTokensChangesNothing, as GRANT … ON ALL TABLES gives it, while somebody reads them,
// as pg_dump does.
func TestARightToReadTokensChangesNothing(t *testing.T) {
	t.Parallel()
	c := employed(t)
	for range 2 { // the second is found after the look that follows on leading
		c.becomes(c.asks(c.alice, "SELECT 1"), "DONE")
	}
	tokens, _ := c.tokens()
	before := c.get("SELECT '" + tokens + "'::regclass::oid::int8")
	reader := c.connect()
	must(t, reader, "BEGIN; LOCK TABLE "+tokens+" IN ACCESS SHARE MODE")
	led := c.leads()
	c.must(c.serving, "GRANT SELECT ON "+tokens+" TO $alice")
	for range 3 { // in between the leader looks at the table
		c.becomes(c.asks(c.alice, "CREATE TABLE IF NOT EXISTS effect ()"), "DONE")
		c.drain()
		c.serve()
		led++
		c.until("led", func() bool { return c.leads() > led-1 })
	}
	if after := c.get("SELECT '" + tokens + "'::regclass::oid::int8"); after != before {
		t.Error("the table of tokens was made again")
	}
}

// TestATransactionThatSeesTheCatalogsOfBeforeTakesNoEnd: neither by a token of its own, written while
// the trigger that keeps it from that was off, nor by a table of its own, which has the name since the
// schema was renamed. What it sees tells of neither.
func TestATransactionThatSeesTheCatalogsOfBeforeTakesNoEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ grant, meanwhile, forges, schema string }{
		"own token": {meanwhile: "ALTER TABLE $tokens DISABLE TRIGGER ALL", forges: "INSERT INTO $tokens VALUES (pg_backend_pid(), sha256('x'))", schema: "public"},
		"own token, in a part": {
			meanwhile: "ALTER TABLE $tokens DISABLE TRIGGER ALL", schema: "public",
			forges: "SAVEPOINT a; INSERT INTO $tokens VALUES (pg_backend_pid(), sha256('x')); RELEASE a",
		},
		"own table": {
			grant:     "GRANT CREATE ON DATABASE $database TO $bob",
			meanwhile: "ALTER SCHEMA public RENAME TO renamed; GRANT USAGE ON SCHEMA renamed TO PUBLIC", schema: "renamed",
			forges: "CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC; CREATE TABLE $tokens (pid int4 PRIMARY KEY, token bytea NOT NULL); GRANT ALL ON $tokens TO PUBLIC; " +
				"INSERT INTO $tokens VALUES (pg_backend_pid(), sha256('x')); CREATE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN coalesce(NEW, OLD); END'; " +
				"CREATE TRIGGER pgtaskd_token BEFORE DELETE OR INSERT OR UPDATE ON $tokens FOR EACH ROW EXECUTE FUNCTION public.f(); ALTER TABLE $tokens ENABLE ALWAYS TRIGGER pgtaskd_token; " +
				"DO $$BEGIN EXECUTE (SELECT format('COMMENT ON TABLE $tokens IS %L', concat('-', tgrelid, '-', xmin)) FROM pg_trigger WHERE tgrelid = '$tokens'::regclass); END$$",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := employed(t)
			if c.grant == "" {
				s.writesAll("$bob")
			} else {
				s.exec(s.named(c.grant))
			}
			s.drain()
			tokens, end := s.tokens()
			bob := s.as(s.bob)
			must(t, bob, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
			s.must("postgres", strings.ReplaceAll(c.meanwhile, "$tokens", tokens))
			must(t, bob, strings.ReplaceAll(c.forges, "$tokens", tokens))
			_, err := bob.Exec(t.Context(), "SELECT "+strings.Replace(end, "public", c.schema, 1)+`('x', sha256('x'), 'pg_catalog', '{"CREATE TABLE pg_temp.forged ()"}', '{}')`)
			if !isDenied(err) {
				t.Errorf("it takes the end of a task: %v", err)
			}
		})
	}
}
