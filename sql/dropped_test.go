package sql

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// giveSchema gives the schema of the tasks to bob, who drops these functions and makes others of
// their names that take a text, as which a call of ours would pass.
func (b *bobs) giveSchema(functions ...string) {
	b.Helper()
	execute(b.T, b.owner, "ALTER SCHEMA public OWNER TO "+b.role+"; SET ROLE "+b.role)
	for _, f := range functions {
		name, parameters, _ := strings.Cut(f, "(")
		name = "public.pgtaskd_" + name + "_" + task.hash()
		execute(b.T, b.owner, "DROP FUNCTION IF EXISTS "+name+"("+strings.ReplaceAll(parameters, "$call", "public.pgtaskd_call_"+task.hash())+"; CREATE FUNCTION "+name+"("+
			strings.ReplaceAll(parameters, "$call", "text")+" RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'bob calls as %', current_user; END$$")
	}
	execute(b.T, b.owner, "RESET ROLE")
}

const (
	cronCall  = "cron($call)"
	afterCall = "after(int8, int8[], $call)"
)

// inserts are statements for which the table calls functions by name.
var inserts = map[string]string{
	"INSERT INTO task (input, cron) VALUES ('', '0 3 * * *')": cronCall,
	"INSERT INTO task (input, after) VALUES ('', '{1}')":      afterCall,
}

// TestWhoInsertsCallsNothingOfANewOwnerOfTheSchema, who has dropped what was there.
func TestWhoInsertsCallsNothingOfANewOwnerOfTheSchema(t *testing.T) {
	t.Parallel()
	for statement, function := range inserts {
		for _, begin := range []string{"BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1"} {
			t.Run(function+" "+begin, func(t *testing.T) {
				t.Parallel()
				b := newBobs(t, forEachStatement)
				inserter := connect(t, b.dsn)
				execute(t, inserter, "INSERT INTO task (input) VALUES ('')")
				execute(t, inserter, begin)
				b.giveSchema(function)
				_, err := inserter.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol)
				b.none(err, "the functions of its table are not made anew yet")
				execute(t, inserter, "ROLLBACK; INSERT INTO task (input) VALUES ('')")
			})
		}
	}
}

// TestWhoInsertsWaitsForNothingBehindTheLook: a cast of the call's is looked up after it.
func TestWhoInsertsWaitsForNothingBehindTheLook(t *testing.T) {
	t.Parallel()
	b := newBobs(t, forEachStatement)
	inserter := connect(t, b.dsn)
	execute(t, inserter, "INSERT INTO task (input) VALUES ('')")
	execute(t, b.owner, "BEGIN")
	b.giveSchema(afterCall)
	letsGo := b.holds("pg_catalog.pg_cast")
	result := make(chan error, 1)
	go func() {
		_, err := inserter.Exec(t.Context(), "INSERT INTO task (input, after) VALUES ('', '{1}')", pgx.QueryExecModeSimpleProtocol)
		result <- err
	}()
	waiting(t, elsewhere(t), inserter)
	execute(t, b.owner, "COMMIT")
	letsGo()
	b.none(<-result, "the functions of its table are not made anew yet")
}

// TestWhoReadsTheScheduleCallsNothingOfANewOwnerOfTheSchema: an earlier version called a function
// there.
func TestWhoReadsTheScheduleCallsNothingOfANewOwnerOfTheSchema(t *testing.T) {
	t.Parallel()
	b := newBobs(t, forEachStatement)
	execute(t, b.owner, "INSERT INTO task (input, repeat) VALUES ('', '1 day')")
	b.giveSchema("zone($call)")
	execute(t, b.owner, "SELECT * FROM task_schedule")
}

// TestRolesNeedNotBeReadToInsert: some servers keep them from PUBLIC.
func TestRolesNeedNotBeReadToInsert(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	owner, conn := connect(t, dsn), connect(t, dsn)
	install(t, owner, task, nil)
	alice := stranger(t, owner, "alice")
	execute(t, owner, "REVOKE SELECT ON pg_catalog.pg_roles FROM PUBLIC; GRANT INSERT ON task TO "+alice+"; GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO "+alice)
	execute(t, conn, "SET SESSION AUTHORIZATION "+alice)
	execute(t, conn, "INSERT INTO task (input, cron) VALUES ('', '0 3 * * *'); INSERT INTO task (input, after) VALUES ('', '{1}')")
}

// TestAFunctionThatWasDroppedIsMadeAnew, and until then nothing else of its name is called: the owner
// of the schema has dropped it, and given the schema back.
func TestAFunctionThatWasDroppedIsMadeAnew(t *testing.T) {
	t.Parallel()
	for how, makes := range map[string]func(b *bobs) error{
		"Install": func(b *bobs) error {
			_, err := Install(t.Context(), b.owner, task, Options{})
			return err
		},
		"DDL": func(b *bobs) error {
			_, err := b.owner.Exec(t.Context(), DDL(task, Options{}), pgx.QueryExecModeSimpleProtocol)
			return err
		},
	} {
		for _, call := range []string{"async_columns($call)", "async_unset($call)", "async_default($call)", "async_usual($call)", "async_insert($call, text, text[], text[], text[])"} {
			t.Run(how+"/"+call, func(t *testing.T) {
				t.Parallel()
				b := newBobs(t, forEachStatement)
				b.giveSchema(call)
				execute(t, b.owner, "ALTER SCHEMA public OWNER TO CURRENT_USER")
				b.none(<-b.inserts(), "that it calls was dropped")
				if err := makes(b); err != nil {
					t.Fatal(err)
				}
				if err := <-b.inserts(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
