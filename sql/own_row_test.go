package sql

import (
	"testing"

	"pgtaskd/server/servertest"
)

// TestOnlyTheSessionOfItsRunIsRefused: a row that runs is anybody's to change but that session's,
// while it runs that task.
func TestOnlyTheSessionOfItsRunIsRefused(t *testing.T) {
	t.Parallel()
	dsn := database(t).Config().ConnString()
	conn, other := connect(t, dsn), connect(t, dsn)
	install(t, conn, task, nil)
	runs := func(start string) {
		servertest.Replicate(t, conn, "DELETE FROM task; SET pg_task.id TO ''; INSERT INTO task (id, input, state, pid, start) VALUES (1, 'SELECT 1', 'WORK', pg_backend_pid(), "+start+")")
	}
	const changes = "UPDATE task SET data = data"
	runs("now()")
	refused(t, conn, changes, "55000")
	execute(t, conn, "SET pg_task.id TO '1'")
	refused(t, conn, changes, "55000")
	refused(t, conn, "UPDATE task SET state = 'PLAN', stop = now()", "55000")
	refused(t, conn, "UPDATE task SET state = 'DONE'", "55000")
	execute(t, other, changes)
	execute(t, conn, "SET pg_task.id TO '2'")
	refused(t, conn, changes, "55000") // there is no such task
	execute(t, other, "INSERT INTO task (id, input, plan) VALUES (2, 'SELECT 2', 'infinity'), (3, 'SELECT 3', now())")
	refused(t, conn, "UPDATE task SET data = data WHERE id = 1", "55000") // it is not due
	execute(t, conn, "SET pg_task.id TO '3'")                             // the next task, while the end of this one is still to be written
	execute(t, conn, "UPDATE task SET data = data WHERE id = 1")
	runs("now() - '1 hour'::interval") // a session of that pid that is gone since
	execute(t, conn, changes)
	runs("now()")
	refused(t, conn, "UPDATE task SET state = 'DONE', stop = now()", "55000")
	execute(t, conn, "WITH pgtaskd_end AS (UPDATE task SET state = 'DONE', stop = now() RETURNING id) SELECT FROM pgtaskd_end") // an end
	execute(t, conn, changes)
	runs("now()")
	execute(t, other, "UPDATE task SET remote = 'elsewhere'")
	execute(t, conn, changes)
	execute(t, conn, "SET pg_task.id TO '1'") // the same server
	refused(t, conn, changes, "55000")
}
