package faults

import (
	"strings"
	"testing"

	"pgtaskd/major"
	"pgtaskd/server/servertest"
)

// change is a change of a table while it is served; its tasks must not mind.
type change struct {
	name, statements string
	running          string // state of a task that runs meanwhile; Null: its row is gone
}

const idleLimit = "ALTER ROLE $n SET idle_session_timeout = '1 ms';"

var changes = []change{
	{"renamed column", "ALTER TABLE task RENAME COLUMN data TO mine", "DONE"},
	{"dropped column", "ALTER TABLE task DROP COLUMN notice, DROP COLUMN priority CASCADE", "DONE"},
	{"new column", "ALTER TABLE task ADD COLUMN mine int DEFAULT 1", "DONE"},
	{"type of a column", `ALTER TABLE task ALTER COLUMN data TYPE varchar(99)`, "DONE"},
	{"rewritten", "VACUUM FULL task", "DONE"},
	{"no triggers", "DROP TRIGGER pgtaskd_accept ON task", "DONE"},
	{"emptied", "TRUNCATE task", servertest.Null},
	{"replaced", "DROP TABLE task; SET ROLE $n; " + tableDDL + "; RESET ROLE", servertest.Null},
	{"limits", "ALTER ROLE $n SET statement_timeout = '5 s'; ALTER ROLE $n SET lock_timeout = '1 ms'; " + idleLimit +
		"ALTER ROLE $n SET idle_in_transaction_session_timeout = '1 ms'; ALTER ROLE $n SET tcp_user_timeout = '1 ms'" + endControl, "DONE"},
}

// TestChanges: pgtaskd adapts to changes of the table while it is served.
func TestChanges(t *testing.T) {
	t.Parallel()
	stages := make([]*stage, len(changes))
	for i := range changes {
		stages[i] = prepare(t, servertest.Server(t), nil)
	}
	c := serve(t, stages...)
	t.Run("each", func(t *testing.T) {
		for i, change := range changes {
			t.Run(change.name, func(t *testing.T) {
				t.Parallel()
				s := *stages[i]
				s.T = t
				change.happen(&s)
			})
		}
	})
	c.beside.check()
}

func (c *change) happen(s *stage) {
	s.settled()
	s.exec("INSERT INTO effect VALUES (0); DELETE FROM effect") // no task waits for another to give the table its first page: a limit of 1 ms for locks is its own
	s.exec(`INSERT INTO task ("group", input) VALUES ('long', 'CREATE TABLE long (); SELECT pg_sleep(3)')`)
	s.becomes("WORK", "SELECT state FROM task WHERE \"group\" = 'long'")
	if major.ClientCheck.Of(s.conn) {
		s.exec(c.statements)
	} else {
		s.exec(strings.ReplaceAll(c.statements, idleLimit, ""))
	}
	s.load(20)
	s.endWell()
	s.becomes(c.running, "SELECT state FROM task WHERE \"group\" = 'long'")
	s.is("20", "SELECT count(*) FROM task WHERE state = 'DONE' AND input LIKE '%effect%'")
	s.is("20 20", "SELECT count(*) || ' ' || count(DISTINCT id) FROM effect")
	if s.get("SELECT (to_regclass('long') IS NOT NULL)") != s.get("SELECT $1::text = 'DONE'", c.running) {
		s.Errorf("the task that ran became %q, and its effect is otherwise", c.running)
	}
	s.load(5)
	s.done(soon)
	s.is("25", "SELECT count(*) FROM effect")
	for _, l := range s.said() {
		s.Log(l)
	}
}
