package sql

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// A bobs is the owner of a table to which the owner of the tasks has attached task_async(): bob may
// fire it, and nothing more.
type bobs struct {
	*testing.T
	owner, conn *pgx.Conn // a superuser's, and bob's own
	role, dsn   string
}

func newBobs(t *testing.T, trigger string) *bobs {
	t.Helper()
	dsn := made.Database(t)
	b := &bobs{T: t, dsn: dsn, owner: connect(t, dsn), conn: connect(t, dsn)}
	b.role = stranger(t, b.owner, "bob")
	execute(t, b.owner, "CREATE SCHEMA bob AUTHORIZATION "+b.role)
	execute(t, b.conn, "SET SESSION AUTHORIZATION "+b.role+"; GRANT USAGE ON SCHEMA bob TO PUBLIC; CREATE TABLE bob.stock (a int);"+
		"CREATE FUNCTION bob.payload() RETURNS int LANGUAGE plpgsql AS $$BEGIN RAISE 'bob reads as %', current_user; END$$;"+
		"CREATE FUNCTION bob.fire() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'bob writes as %', current_user; END$$")
	execute(t, b.owner, "CREATE TRIGGER later AFTER INSERT ON bob.stock "+trigger)
	return b
}

// another is one more connection of bob's.
func (b *bobs) another() *pgx.Conn {
	b.Helper()
	conn := connect(b.T, b.dsn)
	execute(b.T, conn, "SET SESSION AUTHORIZATION "+b.role)
	return conn
}

// elsewhere is a connection to another database, whose catalogs are its own.
func elsewhere(t *testing.T) *pgx.Conn { return connect(t, servertest.Server(t).DSN("postgres")) }

// holds locks a catalog or table against readers, without a right to it, until what it returns is called.
func (b *bobs) holds(relation string) (letsGo func()) {
	b.Helper()
	holder, asker := b.another(), b.another()
	locked := "bob." + strings.ReplaceAll(relation, ".", "_")
	execute(b.T, holder, "CREATE TABLE "+locked+" ()")
	execute(b.T, holder, "BEGIN; LOCK TABLE "+locked)
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		_, _ = asker.Exec(b.Context(), "CREATE RULE r AS ON UPDATE TO "+relation+" DO ALSO SELECT FROM "+locked) // bob may not, but waits before that is found
	}()
	waiting(b.T, elsewhere(b.T), asker)
	return func() {
		execute(b.T, holder, "ROLLBACK")
		<-asked
	}
}

// none of bob's functions has run, each of which would say so, if this refused the statement.
func (b *bobs) none(err error, want string) {
	b.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		b.Errorf("it is not refused as %q, but: %v", want, err)
	}
}

const forEachStatement = "REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION task_async('SELECT 1')"

// TestATriggerRenamedMeanwhileReadsNothingOfItsTablesOwner: a statement fires the triggers that were
// there when it began, whatever they are called by then.
func TestATriggerRenamedMeanwhileReadsNothingOfItsTablesOwner(t *testing.T) {
	t.Parallel()
	b := newBobs(t, forEachStatement)
	wake := value(t, b.owner, "SELECT proname FROM pg_proc WHERE proname LIKE 'pgtaskd_wake_%'") // which everybody may call
	execute(t, b.conn, "CREATE TRIGGER decoy AFTER INSERT ON bob.stock REFERENCING NEW TABLE AS evil FOR EACH STATEMENT EXECUTE FUNCTION public."+wake+"();"+
		"CREATE FUNCTION bob.swap() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN ALTER TRIGGER later ON bob.stock RENAME TO old; ALTER TRIGGER decoy ON bob.stock RENAME TO later; RETURN NULL; END$$;"+
		"CREATE TRIGGER a_first BEFORE INSERT ON bob.stock FOR EACH STATEMENT EXECUTE FUNCTION bob.swap();"+
		"CREATE TEMP VIEW evil AS SELECT bob.payload() AS a; GRANT SELECT ON evil TO PUBLIC")
	_, err := b.conn.Exec(t.Context(), "INSERT INTO bob.stock VALUES (1)")
	b.none(err, "choose another name")
}

// TestATriggerWaitsForARenameAndSeesIt: the table whose name it knows stays what it is from the check
// to the INSERT.
func TestATriggerWaitsForARenameAndSeesIt(t *testing.T) {
	t.Parallel()
	for name, trigger := range map[string]string{
		"statement": forEachStatement,
		"row":       "FOR EACH ROW EXECUTE FUNCTION task_async('SELECT 1', 'group=a-%s', 'a')",
		"row, odd":  "FOR EACH ROW EXECUTE FUNCTION task_async('SELECT 1', 'key=a-%s', 'a')",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBobs(t, trigger)
			execute(t, b.owner, "GRANT CREATE ON SCHEMA public TO "+b.role+"; BEGIN; LOCK TABLE task IN ACCESS EXCLUSIVE MODE")
			result := make(chan error, 1)
			go func() {
				_, err := b.conn.Exec(t.Context(), "INSERT INTO bob.stock VALUES (1)")
				result <- err
			}()
			waiting(t, b.owner, b.conn)
			execute(t, b.owner, "ALTER TABLE task RENAME TO old; GRANT SELECT ON old TO "+b.role+"; SET ROLE "+b.role+"; CREATE TABLE task (LIKE old INCLUDING DEFAULTS); "+
				"CREATE TRIGGER evil BEFORE INSERT ON task FOR EACH STATEMENT EXECUTE FUNCTION bob.fire(); GRANT ALL ON task TO PUBLIC; RESET ROLE; COMMIT")
			b.none(<-result, "belongs to role")
		})
	}
}

// TestATriggerWaitsForNothingBehindItsLook: whoever can have it wait between the look and the INSERT
// can take the name of a schema that is renamed meanwhile.
func TestATriggerWaitsForNothingBehindItsLook(t *testing.T) {
	t.Parallel()
	const usual, odd = "FOR EACH ROW EXECUTE FUNCTION task_async('SELECT 1', 'group=a-%s', 'a')", "FOR EACH ROW EXECUTE FUNCTION task_async('SELECT 1', 'key=a-%s', 'a')"
	for name, c := range map[string]struct {
		trigger string
		warm    bool
	}{
		"usual":      {trigger: usual},
		"odd":        {trigger: odd},
		"odd, again": {trigger: odd, warm: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBobs(t, c.trigger)
			execute(t, b.owner, strings.NewReplacer("$database", value(t, b.owner, "current_database()"), "$bob", b.role, "$hash", task.hash()).Replace("GRANT CREATE ON DATABASE $database TO $bob; GRANT SELECT ON task TO $bob; SET ROLE $bob; "+
				"CREATE SCHEMA trap; GRANT USAGE ON SCHEMA trap TO PUBLIC; CREATE TABLE trap.task (LIKE task INCLUDING DEFAULTS); GRANT ALL ON trap.task TO PUBLIC; ALTER TABLE trap.task ALTER id DROP DEFAULT; "+
				"CREATE FUNCTION bob.reads(text) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'bob reads as %', current_user; END$$; "+
				"ALTER TABLE trap.task ALTER active SET DEFAULT bob.reads(current_setting('pg_task.active'::text, true))::interval; "+
				"CREATE TRIGGER evil BEFORE INSERT ON trap.task FOR EACH STATEMENT EXECUTE FUNCTION bob.fire(); CREATE DOMAIN trap.pgtaskd_call_$hash AS text; "+
				"CREATE UNIQUE INDEX ON trap.task (wait_key) WHERE wait_key IS NOT NULL; "+
				"CREATE FUNCTION trap.pgtaskd_async_default_$hash(trap.pgtaskd_call_$hash) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RAISE 'bob plans as %', current_user; END$$; "+
				"CREATE FUNCTION trap.pgtaskd_async_usual_$hash(trap.pgtaskd_call_$hash) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true'; RESET ROLE"))
			if c.warm {
				execute(t, b.conn, "INSERT INTO bob.stock VALUES (1)")
			}
			taker := b.another()
			letsGo := b.holds("pg_catalog.pg_attrdef")
			result := make(chan error, 1)
			go func() {
				_, err := b.conn.Exec(t.Context(), "INSERT INTO bob.stock VALUES (2)")
				result <- err
			}()
			waiting(t, elsewhere(t), b.conn)
			execute(t, b.owner, "ALTER SCHEMA public RENAME TO moved")
			execute(t, taker, "ALTER SCHEMA trap RENAME TO public")
			letsGo()
			b.none(<-result, "belongs to role")
		})
	}
}

// TestWhoAsksWaitsForNothingBehindTheLook, in whose place bob's functions would run.
func TestWhoAsksWaitsForNothingBehindTheLook(t *testing.T) {
	t.Parallel()
	for statement, held := range map[string]string{
		"SELECT task_why(2)": "task_leader", "SELECT * FROM task_run": "task", "SELECT * FROM task_stat": "task", "SELECT * FROM task_error": "task", "SELECT * FROM task_schedule": "task",
	} {
		t.Run(statement, func(t *testing.T) {
			t.Parallel()
			b := newBobs(t, forEachStatement)
			asks := connect(t, b.dsn)
			execute(t, b.owner, "INSERT INTO task (input, after, plan) VALUES ('', NULL, 'infinity'), ('', '{1}', now()); GRANT SELECT ON task TO "+b.role+
				"; GRANT CREATE ON DATABASE "+value(t, b.owner, "current_database()")+" TO "+b.role+"; SET ROLE "+b.role+"; "+
				"CREATE SCHEMA trap; GRANT USAGE ON SCHEMA trap TO PUBLIC; CREATE FUNCTION bob.reads() RETURNS bool LANGUAGE plpgsql AS $$BEGIN RAISE 'bob reads as %', current_user; END$$; "+
				"CREATE TABLE trap.rows AS TABLE task; CREATE VIEW trap.task AS SELECT * FROM trap.rows WHERE bob.reads(); GRANT ALL ON trap.task TO PUBLIC; RESET ROLE")
			taker := b.another()
			letsGo := b.holds(held)
			result := make(chan error, 1)
			go func() {
				_, err := asks.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol)
				result <- err
			}()
			waiting(t, elsewhere(t), asks)
			execute(t, b.owner, "ALTER SCHEMA public RENAME TO moved")
			execute(t, taker, "ALTER SCHEMA trap RENAME TO public")
			letsGo()
			b.none(<-result, "is not the one that this was made for")
		})
	}
}

// TestATriggerIsNotFiredInTheSchemaOfAStranger, who can rename it at any time.
func TestATriggerIsNotFiredInTheSchemaOfAStranger(t *testing.T) {
	t.Parallel()
	b := newBobs(t, forEachStatement)
	execute(t, b.owner, "ALTER SCHEMA public OWNER TO "+b.role)
	_, err := b.conn.Exec(t.Context(), "INSERT INTO bob.stock VALUES (1)")
	b.none(err, "the schema of table \"public\".\"task\" belongs to role "+b.role)

	owner := stranger(t, b.owner, "owner")
	execute(t, b.owner, "ALTER TABLE task OWNER TO "+owner+"; ALTER FUNCTION task_async() OWNER TO "+owner+"; GRANT "+b.role+" TO "+owner)
	if _, err := b.conn.Exec(t.Context(), "INSERT INTO bob.stock VALUES (1)"); err != nil { // a superuser has made owner a member
		t.Error(err)
	}
	execute(t, b.owner, "REVOKE "+b.role+" FROM "+owner+"; GRANT "+owner+" TO "+b.role)
	if _, err := b.conn.Exec(t.Context(), "INSERT INTO bob.stock VALUES (1)"); err != nil { // who can become owner has no need to
		t.Error(err)
	}
	if serverVersion(b.owner) >= 160000 { // where a membership may give nothing
		execute(t, b.owner, "GRANT "+owner+" TO "+b.role+" WITH INHERIT FALSE, SET FALSE")
		_, err := b.conn.Exec(t.Context(), "INSERT INTO bob.stock VALUES (1)")
		b.none(err, "the schema of table \"public\".\"task\" belongs to role "+b.role)
	}
}

// TestNobodyAttachesWhatTellsOfGroups to a table of theirs.
func TestNobodyAttachesWhatTellsOfGroups(t *testing.T) {
	t.Parallel()
	b := newBobs(t, forEachStatement)
	function := value(t, b.owner, "SELECT proname FROM pg_proc WHERE proname LIKE 'pgtaskd_group_tell_%'")
	refused(t, b.conn, "CREATE TRIGGER tell AFTER INSERT ON bob.stock FOR EACH STATEMENT EXECUTE FUNCTION public."+function+"()", "42501")
}
