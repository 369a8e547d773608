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
	role        string
}

func newBobs(t *testing.T, trigger string) *bobs {
	t.Helper()
	dsn := servertest.Database(t)
	b := &bobs{T: t, owner: connect(t, dsn), conn: connect(t, dsn)}
	b.role = stranger(t, b.owner, "bob")
	execute(t, b.owner, "CREATE SCHEMA bob AUTHORIZATION "+b.role)
	execute(t, b.conn, "SET SESSION AUTHORIZATION "+b.role+"; GRANT USAGE ON SCHEMA bob TO PUBLIC; CREATE TABLE bob.stock (a int);"+
		"CREATE FUNCTION bob.payload() RETURNS int LANGUAGE plpgsql AS $$BEGIN RAISE 'bob reads as %', current_user; END$$;"+
		"CREATE FUNCTION bob.fire() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'bob writes as %', current_user; END$$")
	install(t, b.owner, task, nil)
	execute(t, b.owner, "CREATE TRIGGER later AFTER INSERT ON bob.stock "+trigger)
	return b
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
