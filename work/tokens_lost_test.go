package work

import (
	"fmt"
	"testing"

	"pgtaskd/server/servertest"
)

// TestTasksOutliveTheLossOfTheirTokens: whatever the owner does to the table of tokens while tasks
// run, at once or in a transaction that their ends wait for, they run again, and none FAILs.
func TestTasksOutliveTheLossOfTheirTokens(t *testing.T) {
	t.Parallel()
	const many = 6
	n := 0
	for _, does := range []string{"DROP TABLE %s", "ALTER TABLE %s RENAME TO aside", "TRUNCATE %s"} {
		for _, when := range []string{"before", "while"} {
			if n++; !servertest.Thorough && n%3 != 2 {
				continue
			}
			t.Run(does+" "+when, func(t *testing.T) {
				t.Parallel()
				c := employed(t)
				tokens, _ := c.tokens()
				c.exec("CREATE TABLE gate (); GRANT ALL ON gate TO PUBLIC")
				c.must(c.alice, "CREATE TABLE effect (id int8)")
				lock, owner := c.connect(), c.connect()
				c.on(lock, "BEGIN; LOCK TABLE gate")
				var ids []int64
				for i := range many {
					ids = append(ids, c.asks(c.alice, fmt.Sprintf("INSERT INTO effect VALUES (%d); SELECT FROM gate", i), `"delete", "group"`, fmt.Sprintf("false, 'g%d'", i)))
				}
				waits := "SELECT count(*) FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid) WHERE a.usename = $1 AND NOT l.granted AND l.relation = $2::regclass"
				c.eventually(fmt.Sprint(many), waits, c.alice, "gate")
				number := c.get("SELECT to_regclass($1)::oid::int8", tokens)
				c.on(owner, "BEGIN; "+fmt.Sprintf(does, tokens))
				if when == "before" {
					c.on(owner, "COMMIT")
				}
				c.on(lock, "COMMIT")
				if when == "while" {
					c.eventually("true", "SELECT count(*) > 0 FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid) WHERE a.usename = $1 AND NOT l.granted AND l.relation = $2::oid", c.alice, number)
					c.on(owner, "COMMIT")
				}
				for _, id := range ids {
					c.becomes(id, "DONE", "FAIL")
					if end := c.row(id, "state, error"); end != `{"state":"DONE","error":null}` {
						t.Error(end)
					}
				}
				if n := c.get("SELECT string_agg(id::text, '' ORDER BY id) FROM effect"); n != "012345" {
					t.Error("effects: ", n)
				}
			})
		}
	}
}
