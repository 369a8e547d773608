package work

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/major"
	"pgtaskd/remote"
	"pgtaskd/server/servertest"
)

// company is a table whose tasks run under the roles that insert them. The serving role is no
// superuser, and is a member of alice, but not of bob.
type company struct {
	*stage
	serving, alice, bob string
}

// founded is a company whose table is not served yet.
func founded(t *testing.T, change ...func(*company)) *company {
	t.Helper()
	return foundedOn(t, servertest.Database(t), change...)
}

// foundedOn is founded in a given database.
func foundedOn(t *testing.T, dsn string, change ...func(*company)) *company {
	t.Helper()
	c := &company{stage: stageOn(t, dsn, func(target *Target) { target.Inserter = true })}
	c.serving, c.alice, c.bob = c.role(), c.role(), c.role()
	c.exec(c.named("GRANT CREATE ON SCHEMA public TO $serving; GRANT $alice TO $serving; GRANT CREATE ON SCHEMA public TO $alice, $bob"))
	c.target.Connect = c.target.Connect.With(remote.Settings{"user": c.serving})
	c.target.Trust = []string{c.alice, c.bob} // they create tables in the same schema
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

// aloof forbids alice and bob to create anything in the schema. So nobody needs to trust them, as
// in a script that `schema` prints.
func aloof(c *company) {
	c.exec(c.named("REVOKE CREATE ON SCHEMA public FROM $alice, $bob"))
	c.target.Trust = nil
}

func (c *company) named(sql string) string {
	return strings.NewReplacer("$serving", c.serving, "$alice", c.alice, "$bobby", c.bob+"_by", "$bob", c.bob, "$database", c.target.Connect["dbname"]).Replace(sql)
}

// as opens a connection of a role that can run several statements at once.
func (c *company) as(role string) *pgx.Conn {
	c.t.Helper()
	return servertest.Connect(c.t, strings.Replace(c.dsn, "user=postgres", "user="+role, 1), func(config *pgx.ConnConfig) {
		config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	})
}

// asks inserts a task as a role.
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

// replicates lets a role set session_replication_role, and returns the statement that does; "" if
// the server cannot grant that.
func (c *company) replicates(role string) (replica string) {
	c.t.Helper()
	if !major.ParameterRights.Of(c.conn) {
		return ""
	}
	c.exec(c.named("GRANT SET ON PARAMETER session_replication_role TO " + role))
	return "SET session_replication_role = replica; "
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

// guards makes the trigger that records who inserts a row, as the script that `schema` prints does.
const guards = "CREATE TRIGGER pgtaskd_role BEFORE INSERT OR UPDATE ON task FOR EACH ROW EXECUTE FUNCTION pgtaskd_role('$serving'); ALTER TABLE task ENABLE ALWAYS TRIGGER pgtaskd_role"

// refuses checks that check and run refuse the target with these words, and that it is served once
// the obstacle is removed.
func (c *company) refuses(want, mend string) {
	c.t.Helper()
	if faults := strings.Join(Check(c.t.Context(), c.target).Faults, "\n"); !strings.HasPrefix(faults, want) {
		c.t.Errorf("check complains %q", faults)
	}
	led := c.leads()
	c.serve()
	c.says(want)
	if c.leads() > led {
		c.t.Error("it is served")
	}
	c.must("postgres", mend)
	c.until("served", func() bool { return c.leads() > led })
}

// stops checks that the served target is refused with these words after the serving role does
// something, and is served again when that is mended.
func (c *company) stops(want, do, mend string) {
	c.t.Helper()
	for range 2 { // the second task is found after the first look of the term
		c.becomes(c.asks(c.alice, "SELECT 1"), "DONE")
	}
	said := strings.Count(c.logged(), want)
	c.must(c.serving, do)
	c.until("refused: "+do, func() bool { return strings.Count(c.logged(), want) > said })
	led := c.leads()
	c.must(c.serving, mend)
	c.until("served again", func() bool { return c.leads() > led })
}
