//go:build slow

package work

import (
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// long is an after of ten thousand tasks that are no more, and of one that is open.
const long = "ARRAY(SELECT generate_series(-9999, -1)) || $1::int8"

// awaitsFirst is how a row shows that it waits for that one.
const awaitsFirst = "$1, (SELECT p.created FROM task AS p WHERE p.id = $1), 'infinity'"

// TestOthersStartWhileLongAftersAreLookedAt: those of newcomers, and of whoever waits for a task
// that ends.
func TestOthersStartWhileLongAftersAreLookedAt(t *testing.T) {
	if testing.Short() {
		return
	}
	s := play(t) // not in parallel: they keep the machine busy
	first, second := s.add("input, plan", "SELECT 1", "infinity"), s.add("input, plan", "SELECT 1", "infinity")
	s.exec(`INSERT INTO task ("group", input, after) SELECT 'new', 'SELECT 1', `+long+" FROM generate_series(1, 600)", first)
	brief := s.successor("SELECT 1", -1)
	s.others()
	s.becomes(brief, "DONE")
	s.others()

	s.exec("SET session_replication_role = replica")
	s.exec(`INSERT INTO task ("group", input, after, awaits, awaited, freed) SELECT 'old', 'SELECT 1', `+long+", "+awaitsFirst+" FROM generate_series(1, 600)", second)
	s.exec("SET session_replication_role = origin")
	s.exec("UPDATE task SET plan = now() WHERE id = $1", second)
	s.eventually("true", `SELECT count(*) > 0 FROM task WHERE "group" = 'old' AND state = 'DONE'`)
	s.others()
	s.others()
}

// TestMoreLongAftersThanAreKnownKeepNobodyWaiting, whose own are short or long; and those that were
// left out are found.
func TestMoreLongAftersThanAreKnownKeepNobodyWaiting(t *testing.T) {
	if testing.Short() {
		return
	}
	s := play(t) // not in parallel: they keep the machine busy
	s.exec("SET session_replication_role = replica")
	s.exec(`INSERT INTO task ("group", input, plan, after) SELECT 'many', 'SELECT 1', 'infinity', ARRAY(SELECT generate_series(-200, -1)) FROM generate_series(1, $1)`, 2*freshLong)
	s.exec("SET session_replication_role = origin")
	began := time.Now()
	brief := s.successor("SELECT 1", -5)
	another := s.add(`"group", input, after, delete`, "another", "SELECT 1", make([]int64, 10), false)
	var distinct []int64
	for id := range int64(2000) {
		distinct = append(distinct, -1-id)
	}
	lasts := s.add(`"group", input, after, delete`, "lasts", "SELECT 1", distinct, false)
	s.becomes(brief, "DONE")
	s.becomes(another, "DONE")
	s.becomes(lasts, "DONE")
	if took := time.Since(began); took > servertest.Limit(3*time.Second) {
		t.Errorf("others had to wait %s", took)
	}
	s.exec("SET session_replication_role = replica")
	s.exec(`UPDATE task SET after = '{-1}' WHERE "group" = 'many'`)
	s.eventually("0", "SELECT count(*) FROM task WHERE due = '-infinity'")
}

// TestOthersStartWhileLongAftersAreGivenUp: many tasks do not end well, and of those who wait some
// name one of them.
func TestOthersStartWhileLongAftersAreGivenUp(t *testing.T) {
	if testing.Short() {
		return
	}
	s := play(t) // not in parallel: they keep the machine busy
	gate := s.add("input, plan", "SELECT 1", "infinity")
	s.exec("SELECT setval('task_id_seq', 10000)")
	s.eventually("1", "SELECT awaits FROM task WHERE id = $1", s.successor("SELECT 1", gate))
	s.exec("SET session_replication_role = replica")
	s.exec(`INSERT INTO task ("group", input, after, awaits, awaited, freed) SELECT 'old', 'SELECT 1', `+long+", "+awaitsFirst+" FROM generate_series(1, 2000)", gate)
	s.exec(`INSERT INTO task ("group", input, after, awaits, awaited, freed, delete, priority) SELECT 'ill', 'SELECT 1', ARRAY(SELECT generate_series(1, 10000)), `+awaitsFirst+`, false, 1 FROM generate_series(1, 20)`, gate)
	s.exec("SET session_replication_role = origin")
	s.exec(`INSERT INTO task (id, input, plan, active, delete) SELECT i, 'SELECT 1', now() - interval '1 day', '1 s', false FROM generate_series(10, 1200) AS i`)
	s.others()
	s.eventually("1191", "SELECT count(*) FROM task WHERE id <= 1200 AND state = 'GONE'")
	s.others()
	s.eventually("20", `SELECT count(*) FROM task WHERE "group" = 'ill' AND state = 'GONE'`)
	s.others()
}
