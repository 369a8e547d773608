package work

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/remote"
	"pgtaskd/server/servertest"
)

// company is a table whose tasks run under the roles that insert them: it is served by a role that
// is no superuser and a member of alice's, not of bob's.
type company struct {
	*stage
	serving, alice, bob string
}

// founded is a company whose table is not served yet.
func founded(t *testing.T, change ...func(*company)) *company {
	t.Helper()
	return foundedOn(t, servertest.Database(t), change...)
}

// foundedOn is one in a database of the test's own.
func foundedOn(t *testing.T, dsn string, change ...func(*company)) *company {
	t.Helper()
	c := &company{stage: stageOn(t, dsn, func(target *Target) { target.Inserter = true })}
	c.serving, c.alice, c.bob = c.role(), c.role(), c.role()
	c.exec(c.named("GRANT CREATE ON SCHEMA public TO $serving; GRANT $alice TO $serving; GRANT CREATE ON SCHEMA public TO $alice, $bob"))
	c.target.Connect = c.target.Connect.With(remote.Settings{"user": c.serving})
	c.target.Trust = []string{c.alice, c.bob} // they make tables of their own beside it
	for _, change := range change {
		change(c)
	}
	return c
}

func employed(t *testing.T, change ...func(*company)) *company {
	t.Helper()
	c := founded(t, change...)
	c.serve()
	c.settled()
	c.exec(c.named("GRANT SELECT, INSERT, UPDATE ON task TO $alice, $bob; GRANT USAGE ON SEQUENCE task_id_seq TO $alice, $bob"))
	return c
}

// aloof is a company in whose schema neither alice nor bob may make anything: none of them has to be
// trusted, which a printed script knows nothing of.
func aloof(c *company) {
	c.exec(c.named("REVOKE CREATE ON SCHEMA public FROM $alice, $bob"))
	c.target.Trust = nil
}

func (c *company) named(sql string) string {
	return strings.NewReplacer("$serving", c.serving, "$alice", c.alice, "$bobby", c.bob+"_by", "$bob", c.bob, "$database", c.target.Connect["dbname"]).Replace(sql)
}

// as is a connection of a role's, which runs statements of any number.
func (c *company) as(role string) *pgx.Conn {
	c.t.Helper()
	return servertest.Connect(c.t, strings.Replace(c.dsn, "user=postgres", "user="+role, 1), func(config *pgx.ConnConfig) {
		config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	})
}

// asks has a role insert a task.
func (c *company) asks(role, input string, more ...string) (id int64) {
	c.t.Helper()
	columns, values := "input", "$1"
	for i := 0; i < len(more); i += 2 {
		columns, values = columns+", "+more[i], values+", "+more[i+1]
	}
	conn := c.as(role)
	if err := conn.QueryRow(c.t.Context(), "INSERT INTO task ("+columns+") VALUES ("+values+") RETURNING id", input).Scan(&id); err != nil {
		c.t.Fatal(err)
	}
	if err := conn.Close(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	return id
}

// replicates lets a role set session_replication_role, where a role can be let.
func (c *company) replicates(role string) {
	c.t.Helper()
	if c.get("SELECT current_setting('server_version_num')::int4 >= 150000") == "true" {
		c.exec(c.named("GRANT SET ON PARAMETER session_replication_role TO " + role))
	}
}

// does runs statements as a role, and returns their error.
func (c *company) does(role, sql string) error {
	c.t.Helper()
	conn := c.as(role)
	_, err := conn.Exec(c.t.Context(), c.named(sql))
	_ = conn.Close(c.t.Context())
	return err
}

func (c *company) must(role, sql string) {
	c.t.Helper()
	if err := c.does(role, sql); err != nil {
		c.t.Fatalf("%s: %s: %v", role, sql, err)
	}
}

// TestTaskRunsAsWhoInsertedIt: whatever the INSERT says, and its repetition runs as the same.
func TestTaskRunsAsWhoInsertedIt(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.must(c.alice, "CREATE TABLE effect (who text, id int8)")
	const writes = "INSERT INTO effect VALUES (current_user || ' ' || session_user, current_setting('pg_task.id')::int8) RETURNING who"
	id := c.asks(c.alice, writes, "role", "'"+c.serving+"'", "repeat", "'1 day'")
	c.becomes(id, "DONE")
	if row, want := c.row(id, "role, output, atomic, attempt, "+
		"(SELECT n.role FROM task AS n WHERE n.id = task.next) AS follows"),
		c.named(`{"role":"$alice","output":"$alice $alice","atomic":true,"attempt":1,"follows":"$alice"}`); row != want {
		t.Errorf("the row is %s, want %s", row, want)
	}
	own := c.asks(c.serving, "SELECT session_user")
	c.becomes(own, "DONE")
	if who := c.get("SELECT role || ' ' || output FROM task WHERE id = $1", own); who != c.serving+" "+c.serving {
		t.Errorf("the serving role's task runs as %s", who)
	}
	for range 3 { // in sessions that have been used
		for _, input := range []string{writes, "SELECT 1 AS a", "VACUUM effect", "SELECT 1/0"} {
			c.becomes(c.asks(c.alice, input), map[bool]string{true: "FAIL", false: "DONE"}[input == "SELECT 1/0"])
		}
	}
	if n := c.get("SELECT count(*) FROM effect WHERE who = $1", c.alice+" "+c.alice); n != "4" {
		t.Errorf("%s effects, want 4", n)
	}
}

// TestRoleThatMayNotRun FAILs at once, and the row says what helps; its neighbours in the lane run.
func TestRoleThatMayNotRun(t *testing.T) {
	t.Parallel()
	const member = "GRANT $bob TO $serving; "
	cases := []struct{ before, after, says string }{
		{says: `Add it to "roles" in the configuration, or GRANT "$bob" TO "$serving".`},
		{before: member, after: "ALTER ROLE $bob NOLOGIN", says: `ALTER ROLE "$bob" LOGIN`},
		{before: member + "ALTER ROLE $bob CONNECTION LIMIT 0", says: `CONNECTION LIMIT above 0`},
		{before: member, after: "ALTER ROLE $bob SUPERUSER", says: `ALTER ROLE "$bob" NOSUPERUSER`},
		{before: member, after: "ALTER ROLE $bob RENAME TO $bobby", says: `role "$bob" does not exist`},
		{before: member, after: "REVOKE CONNECT ON DATABASE $database FROM PUBLIC", says: `GRANT CONNECT ON DATABASE`},
		{after: "UPDATE task SET role = NULL WHERE role = '$bob'", says: "task has no role"},
		{before: member, says: "the password of the role can't be had"},
	}
	var bobs []string
	c := founded(t, func(c *company) {
		c.target.Roles = map[string]remote.Credential{}
		for _, k := range cases {
			bob := c.role()
			bobs = append(bobs, bob)
			if strings.Contains(k.says, "password") {
				c.target.Roles[bob] = remote.Credential{Command: "echo hush; exit 3"}
			}
			if k.before != "" {
				c.must("postgres", strings.ReplaceAll(k.before, "$bob", bob))
			}
		}
	})
	c.serve()
	c.settled()
	c.must("postgres", "GRANT SELECT, INSERT ON task TO PUBLIC; GRANT USAGE ON SEQUENCE task_id_seq TO PUBLIC")
	for i, bob := range bobs {
		if i != 5 { // else who has no right to connect fails
			c.must("postgres", "GRANT CONNECT ON DATABASE $database TO $serving, $alice, "+bob)
		}
		c.must("postgres", "SET ROLE "+bob+"; INSERT INTO task (id, input, plan) VALUES ("+fmt.Sprint(1000+i)+", 'SELECT session_user', 'infinity')")
	}
	named := func(i int, sql string) string {
		return c.named(strings.NewReplacer("$bobby", bobs[i]+"_by", "$bob", bobs[i]).Replace(sql))
	}
	for i, k := range cases {
		if k.after != "" {
			c.exec(named(i, k.after))
		}
	}
	t.Cleanup(func() {
		if _, err := c.conn.Exec(context.WithoutCancel(t.Context()), named(4, "ALTER ROLE $bobby RENAME TO $bob")); err != nil {
			t.Error(err)
		}
	})
	c.exec("UPDATE task SET plan = now()")
	c.becomes(c.asks(c.alice, "SELECT session_user"), "DONE")
	for i, k := range cases {
		id := int64(1000 + i)
		c.becomes(id, "FAIL")
		if said := c.get("SELECT error FROM task WHERE id = $1", id); !strings.Contains(said, named(i, k.says)) || strings.Contains(said, "hush") {
			t.Errorf("it says %s, want %s", said, named(i, k.says))
		}
	}
}

// TestRoleOfTheConfiguration logs in by the password that a file or a command has; who is no member
// of it can end its sessions all the same.
func TestRoleOfTheConfiguration(t *testing.T) {
	t.Parallel()
	c := founded(t, func(c *company) {
		c.exec(c.named("ALTER ROLE $alice PASSWORD 'word'; ALTER ROLE $bob PASSWORD 'word'; ALTER ROLE $serving PASSWORD 'other'; REVOKE $alice FROM $serving"))
		file := filepath.Join(c.t.TempDir(), "word")
		if err := os.WriteFile(file, []byte("word\nmore\n"), 0o600); err != nil {
			c.t.Fatal(err)
		}
		tcp, err := remote.Parse(servertest.Server(c.t).TCP(c.target.Connect["dbname"]))
		if err != nil {
			c.t.Fatal(err)
		}
		c.target.Connect = tcp.With(remote.Settings{"user": c.serving, "password": "other"})
		c.target.Roles = map[string]remote.Credential{c.alice: {File: file}, c.bob: {Command: "echo word"}}
	})
	c.serve()
	c.settled()
	c.exec(c.named("GRANT SELECT, INSERT, UPDATE ON task TO $alice, $bob; GRANT USAGE ON SEQUENCE task_id_seq TO $alice, $bob"))
	for _, role := range []string{c.alice, c.bob} {
		id := c.asks(role, "SELECT session_user")
		c.becomes(id, "DONE")
		if who := c.get("SELECT output FROM task WHERE id = $1", id); who != role {
			t.Errorf("%s, want %s", who, role)
		}
	}
	id := c.asks(c.bob, "SELECT pg_sleep(600)")
	c.becomes(id, "WORK")
	c.exec("UPDATE task SET state = 'STOP' WHERE id = $1", id)
	c.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = $1", id)
}

// TestTasksOfOthersAreGuarded: who is no member of a task's role does not change what it does, by
// whatever way a row is written.
func TestTasksOfOthersAreGuarded(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.exec(c.named("GRANT TEMPORARY ON DATABASE $database TO $bob"))
	c.replicates("$bob")
	id := c.asks(c.alice, "SELECT 1", "plan", "'infinity'", "data", "'mine'")
	for _, change := range []string{
		"input = 'SELECT 2'", "data = 'yours'", "data = NULL", `settings = '{"work_mem": "1MB"}'`, "remote = 'x'", "plan = now()", "role = '$bob'", "role = NULL", "stop = now()",
		"repeat = '1 s', drift = true", "cron = '* * * * *'", "on_fail = 'SELECT 2'", "until = now()",
		"state = 'DONE'", "state = 'FAIL', error = 'forged'", "state = 'GONE'", "output = 'forged'", "error = 'forged'", "sqlstate = '00000'", "notice = 'forged'", "runs = '[]'",
		"id = -id", "key = 'taken'", "author = 'forged'", "created = now()", "parent = 1", "next = 1", "start = now()", "pid = 1", "attempt = 1", "interrupted = 1",
		"after = '{}'", "awaits = 1", "freed = now()", "base = now()", "origin = now()", "stopping = true, state = 'STOP'", "retry = 5", "rerun = NOT rerun", "overlap = true", "save = true",
		`"delete" = NOT "delete"`, "notify = 'x'", "backoff = '1 s'", "owner = 'x'", "failures = 1", "max_failures = 1", "catchup = 1", "skipped = 1", "header = NOT header", `"null" = 'x'`,
	} {
		for _, before := range []string{"", "SET session_replication_role = replica; ", "SET search_path = pg_temp, public; SET extra_float_digits = -15; "} {
			if err := c.does(c.bob, before+fmt.Sprintf("UPDATE public.task SET %s WHERE id = %d", change, id)); !fault.IsDenied(err) {
				t.Errorf("%s%s: %v", before, change, err)
			}
		}
	}
	stopped := c.asks(c.alice, "SELECT 3", "plan", "'infinity'")
	c.must(c.bob, fmt.Sprintf("UPDATE task SET state = 'STOP' WHERE id = %d", stopped))
	ended := c.asks(c.alice, "SELECT 1")
	c.becomes(ended, "DONE")
	for _, change := range []string{"output = 'forged'", "id = -id", "state = 'FAIL'", "runs = '[]'"} {
		if err := c.does(c.bob, fmt.Sprintf("UPDATE task SET %s WHERE id = %d", change, ended)); !fault.IsDenied(err) {
			t.Errorf("of an ended task, %s: %v", change, err)
		}
	}
	if err := c.does(c.bob, fmt.Sprintf("UPDATE task SET state = 'PLAN' WHERE id = %d", ended)); !fault.IsDenied(err) {
		t.Errorf("bob runs a task of alice's again: %v", err)
	}
	if err := c.does(c.bob, fmt.Sprintf("UPDATE task SET stop = NULL WHERE id = %d", ended)); !fault.IsDenied(err) {
		t.Errorf("bob makes a task of alice's look as if it had not ended: %v", err)
	}
	c.must(c.alice, fmt.Sprintf("UPDATE task SET state = 'PLAN' WHERE id = %d", ended))
	c.must(c.bob, fmt.Sprintf(`UPDATE task SET "group" = 'other', input = input, timeout = '1 min' WHERE id = %d`, id))
	c.must(c.alice, fmt.Sprintf("UPDATE task SET input = 'SELECT 3' WHERE id = %d", id))
	if err := c.does(c.alice, fmt.Sprintf("UPDATE task SET role = '$bob' WHERE id = %d", id)); !fault.IsDenied(err) {
		t.Error("alice gives a task to bob: ", err)
	}
	c.exec(c.named("GRANT $bob TO $alice"))
	c.must(c.alice, fmt.Sprintf("UPDATE task SET role = '$bob', data = 'given' WHERE id = %d", id))
	c.exec(c.named(`CREATE FUNCTION definer() RETURNS void LANGUAGE sql SECURITY DEFINER AS $$INSERT INTO public.task (input, plan, role) VALUES ('definer', 'infinity', '$alice')$$;
		ALTER FUNCTION definer() OWNER TO $bob`))
	c.must(c.bob, "INSERT INTO task (input, plan, role) VALUES ('insert', 'infinity', '$alice')")
	c.must(c.bob, "SET session_replication_role = replica; INSERT INTO task (input, plan, role) VALUES ('replica', 'infinity', '$alice')")
	c.must(c.alice, "SELECT definer()")
	c.must(c.bob, `CREATE FUNCTION adds() RETURNS int LANGUAGE sql AS $f$INSERT INTO public.task (input, plan) VALUES ('index', 'infinity') RETURNING 1$f$;
		CREATE FUNCTION f(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $f$BEGIN RETURN public.adds(); END$f$;
		CREATE TABLE t (a int); INSERT INTO t VALUES (1); CREATE INDEX ON t (f(a))`)
	c.exec("DELETE FROM task WHERE input = 'index'; ANALYZE t; REINDEX TABLE t")
	if roles := c.get("SELECT string_agg(DISTINCT role, ' ') FROM task WHERE plan = 'infinity' AND input <> 'SELECT 3'"); roles != c.bob {
		t.Errorf("tasks of bob's have the roles %s", roles)
	}
	for _, sql := range []string{
		"ALTER TABLE task DISABLE TRIGGER pgtaskd_role", "DROP TRIGGER pgtaskd_role ON task", "INSERT INTO task (input, role) VALUES ('x', '$serving') ON CONFLICT (id) DO UPDATE SET role = 'x'",
	} {
		if err := c.does(c.bob, sql); err == nil && !strings.HasPrefix(sql, "INSERT") {
			t.Errorf("bob may %s", sql)
		}
	}
}

// TestWhoMayNotBecomeARoleDoesNotChangeItsTasks: they run in a session of that role's, with what no
// membership gives: its attributes, what it alone may become, and what it makes. Nor does pgtaskd log
// in as a role that its own may not become.
func TestWhoMayNotBecomeARoleDoesNotChangeItsTasks(t *testing.T) {
	t.Parallel()
	c := employed(t)
	bobs := c.asks(c.bob, "SELECT session_user", "plan", "'infinity'")
	alices := c.asks(c.alice, "SELECT session_user", "plan", "'infinity'")
	memberships := map[string]bool{"": true} // before 16 each can become the role
	if c.get("SELECT current_setting('server_version_num')::int4 >= 160000") == "true" {
		memberships = map[string]bool{
			"": true, " WITH INHERIT FALSE, SET TRUE": true, " WITH INHERIT TRUE, SET FALSE": false, " WITH INHERIT FALSE, SET FALSE": false,
		}
	}
	for with, may := range memberships {
		c.exec(c.named("GRANT $bob TO $alice" + with + "; GRANT $bob TO $serving" + with))
		if err := c.does(c.alice, "SET ROLE $bob"); (err == nil) != may {
			t.Fatalf("alice becomes bob%s: %v", with, err)
		}
		for _, change := range []string{
			fmt.Sprintf("UPDATE task SET input = input || ' ' WHERE id = %d", bobs),
			fmt.Sprintf("BEGIN; UPDATE task SET role = '$bob' WHERE id = %d; ROLLBACK", alices),
		} {
			if err := c.does(c.alice, change); (err == nil) != may || !may && !fault.IsDenied(err) {
				t.Errorf("as a member%s, %s: %v", with, change, err)
			}
		}
		c.becomes(c.asks(c.bob, "SELECT session_user"), map[bool]string{true: "DONE", false: "FAIL"}[may])
		c.exec(c.named("REVOKE $bob FROM $alice; REVOKE $bob FROM $serving"))
	}
}

// TestAJobIsNotCarriedOnByAnother: where a task of another role has come to wait with the key, the
// repetition is kept beside it, as one that has been superseded. One of the same role carries on.
func TestAJobIsNotCarriedOnByAnother(t *testing.T) {
	t.Parallel()
	c := employed(t)
	for role, want := range map[string]string{c.alice: "WITHIN", c.bob: "GONE ERROR:  superseded by task"} {
		id := c.asks(c.alice, "SELECT pg_sleep(0.5)", "key", "'nightly of "+role+"'", "repeat", "'1 hour'", "\"group\"", "'"+role+"'")
		c.becomes(id, "WORK")
		other := c.asks(role, "SELECT 1", "key", "'nightly of "+role+"'", "repeat", "'1 day'", "plan", "'infinity'")
		c.becomes(id, "DONE")
		c.eventually(want, `SELECT CASE WHEN n.id = $2 THEN 'WITHIN' ELSE concat(n.state, ' ', substr(n.error, 1, 26)) END FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.id = $1`, id, other)
		if role := c.get("SELECT role FROM task AS t WHERE id = (SELECT next FROM task WHERE id = $1)", id); want != "WITHIN" && role != c.alice {
			t.Error("the repetition belongs to ", role)
		}
	}
}

// TestNobodyTakesATaskByMovingIt: an UPDATE that moves a row is an INSERT in the other partition.
func TestNobodyTakesATaskByMovingIt(t *testing.T) {
	t.Parallel()
	c := founded(t, func(c *company) {
		c.must("postgres", `CREATE TABLE task (id bigserial, "group" text NOT NULL DEFAULT 'group', input text NOT NULL) PARTITION BY LIST ("group");
			CREATE TABLE vip PARTITION OF task FOR VALUES IN ('vip'); CREATE TABLE rest PARTITION OF task DEFAULT;
			ALTER TABLE task OWNER TO $serving; ALTER TABLE vip OWNER TO $serving; ALTER TABLE rest OWNER TO $serving`)
	})
	c.serve()
	c.settled()
	c.exec(c.named("GRANT SELECT, INSERT, UPDATE ON task TO $alice, $bob; GRANT USAGE ON SEQUENCE task_id_seq TO $alice, $bob"))
	id := c.asks(c.alice, "SELECT 1", "plan", "'infinity'")
	if err := c.does(c.bob, "UPDATE task SET \"group\" = 'vip'"); !fault.IsDenied(err) {
		t.Errorf("bob moves a task of alice's: %v", err)
	}
	c.must(c.alice, "UPDATE task SET \"group\" = 'vip'")
	if role := c.get("SELECT role FROM task WHERE id = $1", id); role != c.alice {
		t.Error("it belongs to ", role)
	}
	id = c.asks(c.serving, "SELECT 1", "role", "NULL", "plan", "'infinity'")
	if err := c.does(c.alice, "UPDATE task SET \"group\" = 'vip' WHERE role IS NULL"); !fault.IsDenied(err) {
		t.Errorf("alice moves a task of nobody's: %v", err)
	}
	if role := c.get("SELECT coalesce(role, 'nobody') FROM task WHERE id = $1", id); role != "nobody" {
		t.Error("it belongs to ", role)
	}
}

// TestMarksMoveRows: a table may be partitioned by state.
func TestMarksMoveRows(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.exec(`CREATE TYPE state AS ENUM ('PLAN', 'TAKE', 'WORK', 'DONE', 'FAIL', 'GONE', 'STOP');
		CREATE TABLE task (id bigserial, state state NOT NULL DEFAULT 'PLAN', input text NOT NULL) PARTITION BY LIST (state);
		CREATE TABLE over PARTITION OF task FOR VALUES IN ('DONE', 'FAIL', 'GONE'); CREATE TABLE rest PARTITION OF task DEFAULT; CREATE TABLE works PARTITION OF task FOR VALUES IN ('WORK')`)
	s.serve()
	s.settled()
	id := s.add("input, delete", "VACUUM", false)
	s.becomes(id, "DONE")
}

// TestPartitionsAreGuardedToo: one that is written to itself as well, whenever it was made.
func TestPartitionsAreGuardedToo(t *testing.T) {
	t.Parallel()
	c := founded(t, func(c *company) {
		c.must("postgres", `CREATE TABLE task (id bigserial, plan timestamptz NOT NULL DEFAULT statement_timestamp(), input text NOT NULL) PARTITION BY RANGE (plan);
			CREATE TABLE early PARTITION OF task FOR VALUES FROM ('2020-01-01') TO ('2021-01-01'); ALTER TABLE task OWNER TO $serving; ALTER TABLE early OWNER TO $serving`)
		c.replicates("$bob")
	})
	c.serve()
	c.settled()
	c.must("postgres", `CREATE TABLE late (LIKE task INCLUDING ALL); ALTER TABLE late OWNER TO $serving; ALTER TABLE task ATTACH PARTITION late DEFAULT;
		GRANT SELECT, INSERT, UPDATE ON task, early, late TO $alice, $bob; GRANT USAGE ON SEQUENCE task_id_seq TO $alice, $bob`)
	for _, before := range []string{"", "SET session_replication_role = replica; "} {
		for _, table := range []string{"task", "early", "late"} {
			insert := before + "INSERT INTO " + table + ` (plan, state, input, role) VALUES (CASE '` + table + `' WHEN 'early' THEN '2020-02-01' ELSE now() END, 'STOP', 'SELECT 1', `
			if err := c.does(c.bob, insert+"'$alice')"); !fault.IsDenied(err) {
				t.Errorf("%s: %v", insert, err)
			}
			c.must(c.bob, insert+"NULL)")
		}
	}
	if roles := c.get("SELECT string_agg(DISTINCT role, ' ') || count(*) FROM task"); roles != c.bob+"6" {
		t.Errorf("their roles are %s", roles)
	}
	for _, table := range []string{"early", "late"} {
		if err := c.does(c.alice, "UPDATE "+table+" SET input = 'SELECT 2'"); !fault.IsDenied(err) {
			t.Errorf("%s: %v", table, err)
		}
	}
	id := c.asks(c.alice, "SELECT session_user")
	c.becomes(id, "DONE")
	if who := c.get("SELECT output FROM task WHERE id = $1", id); who != c.alice {
		t.Error("it runs as ", who)
	}
	for _, off := range []string{"DISABLE", "ENABLE", "ENABLE REPLICA"} {
		c.stops("table public.early is below the table, and its own trigger pgtaskd_role is missing or not enabled always",
			"ALTER TABLE early "+off+" TRIGGER pgtaskd_role", "ALTER TABLE early ENABLE ALWAYS TRIGGER pgtaskd_role")
	}
	// As ALTER TRIGGER does before 15.
	c.must("postgres", "UPDATE pg_trigger SET tgname = 'another' WHERE tgrelid = 'early'::regclass AND tgname = 'pgtaskd_role'")
	c.drain()
	c.refuses("table public.early is below the table, and its own trigger pgtaskd_role is missing or not enabled always",
		"UPDATE pg_trigger SET tgname = 'pgtaskd_role' WHERE tgrelid = 'early'::regclass AND tgname = 'another'")
}

// TestEndIsWrittenWhateverATaskLeaves: temporary objects, settings, operators and prepared
// statements of a role change nothing of how its tasks end, and nothing of theirs is run as the
// owner of the table.
func TestEndIsWrittenWhateverATaskLeaves(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.exec(c.named(`CREATE TABLE audit (who text, state text); ALTER TABLE audit OWNER TO $serving;
		CREATE FUNCTION audits() RETURNS trigger LANGUAGE plpgsql AS $f$BEGIN INSERT INTO audit VALUES (current_user, NEW.state::text); RETURN NEW; END$f$;
		CREATE TRIGGER audits AFTER UPDATE ON task FOR EACH ROW WHEN (NEW.state = 'DONE') EXECUTE FUNCTION audits()`))
	c.must(c.alice, `CREATE TABLE effect (id int8); CREATE TABLE caught (who text);
		CREATE FUNCTION catches() RETURNS trigger LANGUAGE plpgsql AS $f$BEGIN INSERT INTO public.caught VALUES (current_user); RETURN NEW; END$f$;
		CREATE FUNCTION catches(int8, int4) RETURNS bool LANGUAGE plpgsql AS $f$BEGIN INSERT INTO public.caught VALUES (current_user); RETURN true; END$f$;
		CREATE OPERATOR public.= (LEFTARG = int8, RIGHTARG = int4, FUNCTION = catches)`)
	c.exec(c.named("GRANT INSERT ON caught TO PUBLIC; GRANT TEMPORARY ON DATABASE $database TO $alice"))
	leaves := []string{
		"CREATE TEMP TABLE audit (who text, state text); CREATE TRIGGER catches BEFORE INSERT ON pg_temp.audit FOR EACH ROW EXECUTE FUNCTION catches()",
		"CREATE TEMP TABLE task (LIKE public.task)", "RESET ALL", "RESET ROLE; RESET SESSION AUTHORIZATION", "SET search_path = pg_temp, public, pg_catalog", "DEALLOCATE ALL", "DISCARD PLANS",
		"PREPARE pgtaskd_done AS SELECT 1", "SET default_transaction_read_only = off; SET row_security = off", "SET lock_timeout = 1; SET statement_timeout = '5s'", "SET transform_null_equals = on",
		"SET standard_conforming_strings = off; SET DateStyle = 'German, DMY'; SET TimeZone = 'Asia/Kolkata'", "SAVEPOINT a", "SET CONSTRAINTS ALL DEFERRED",
		"SET client_encoding = 'LATIN1'", "DECLARE c CURSOR WITH HOLD FOR SELECT 1", "LISTEN x; NOTIFY x", "SELECT pg_advisory_lock(1)", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
	}
	conn := c.as(c.alice)
	for i, leaves := range leaves {
		for j, save := range []string{"false", "true"} {
			input := leaves + "; INSERT INTO public.effect VALUES (1); SELECT E'ü'"
			if _, err := conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO task (id, "group", save, repeat, key, timeout, input) VALUES (%d, '%d', %s, '1 day', '%[1]d', '10 s', $1)`, 1000+2*i+j, i, save), input); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 2 * len(leaves) {
		id := int64(1000 + i)
		c.becomes(id, "DONE", "FAIL")
		if row := c.row(id, "state, error, attempt, atomic, next IS NOT NULL AS follows"); row != `{"state":"DONE","error":null,"attempt":1,"atomic":true,"follows":true}` {
			t.Errorf("%s (%d): %s", leaves[i/2], i%2, row)
		}
	}
	if who := c.get("SELECT coalesce(string_agg(DISTINCT who, ' '), '') FROM caught WHERE who <> $1", c.alice); who != "" {
		t.Errorf("run as %s", who)
	}
	if who := c.get("SELECT string_agg(DISTINCT who, ' ') FROM audit"); who != c.serving {
		t.Errorf("the owner's trigger runs as %s, want %s", who, c.serving)
	}
}
