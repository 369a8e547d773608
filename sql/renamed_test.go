package sql

import (
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// TestWhoInsertsCallsNothingByANameOfBefore: to a transaction that is older than a RENAME the schema
// has its old name still, but what is called by that is a stranger's.
func TestWhoInsertsCallsNothingByANameOfBefore(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn, inserter, thief := connect(t, dsn), connect(t, dsn), connect(t, dsn)
	install(t, conn, task, nil)
	role := stranger(t, conn, "thief")
	execute(t, conn, "GRANT CREATE ON DATABASE "+value(t, conn, "SELECT current_database()")+" TO "+role)
	for _, values := range []string{"cron) VALUES ('SELECT 1', '0 3 * * *')", `after) VALUES ('SELECT 1', '{1}')`} {
		execute(t, inserter, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
		execute(t, conn, "ALTER SCHEMA public RENAME TO renamed")
		execute(t, thief, "SET SESSION AUTHORIZATION "+role+"; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC;"+
			strings.ReplaceAll("CREATE DOMAIN public.pgtaskd_call_$h AS text; CREATE FUNCTION public.called() RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'called as %', current_user; END$$;"+
				"CREATE FUNCTION public.pgtaskd_cron_$h(public.pgtaskd_call_$h) RETURNS text LANGUAGE sql AS 'SELECT public.called()';"+
				"CREATE FUNCTION public.pgtaskd_after_$h(bigint, bigint[], public.pgtaskd_call_$h) RETURNS text LANGUAGE sql AS 'SELECT public.called()'", "$h", task.hash()))
		_, err := inserter.Exec(t.Context(), "INSERT INTO renamed.task (input, "+values)
		if err == nil || !strings.Contains(err.Error(), "the functions of its table are not made anew yet") {
			t.Errorf("%s: %v", values, err)
		}
		execute(t, inserter, "ROLLBACK")
		execute(t, conn, "DROP SCHEMA public CASCADE; ALTER SCHEMA renamed RENAME TO public")
		execute(t, conn, "INSERT INTO task (input, "+values)
	}
}
