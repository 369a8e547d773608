package work

import (
	"fmt"
	"testing"
)

// TestAFreedIDHoldsUpNoSuccessor, and does not end one: a task that has ended without output is
// deleted, and somebody may insert another row with its id. Who was to run after the first one does
// not wait for that row, while it waits for others or when it is to run once more.
func TestAFreedIDHoldsUpNoSuccessor(t *testing.T) {
	t.Parallel()
	for what, row := range map[string]string{
		"one that fails":      "(id, input) VALUES ($1, 'SELECT 1/0')",
		"one that waits":      "(id, input, plan) VALUES ($1, 'SELECT 1', 'infinity')",
		"one that is stopped": "(id, input, state, stop) VALUES ($1, 'SELECT 1', 'STOP', now())",
		"one from before":     "(id, input, plan, created) VALUES ($1, 'SELECT 1', 'infinity', '2020-01-01')",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			freed, waited := s.add(`input, plan`, "SELECT 1 WHERE false", "infinity"), s.add("input, plan, delete", "SELECT 1", "infinity", false)
			var behind []int64
			for range 6 { // each chooses at random for which it waits first
				behind = append(behind, s.successor("SELECT 1", freed, waited), s.successor("SELECT 1", waited, freed))
			}
			s.eventually("12", "SELECT count(*) FROM task WHERE awaits IS NOT NULL")
			s.exec("UPDATE task SET plan = now() WHERE id = $1", freed)
			s.eventually("0", "SELECT count(*) FROM task WHERE id = $1", freed)
			s.exec("INSERT INTO task "+row, freed)
			s.exec("UPDATE task SET plan = now() WHERE id = $1", waited)
			for _, id := range behind {
				s.becomes(id, "DONE")
			}
			s.exec("UPDATE task SET state = 'PLAN' WHERE id = $1", behind[0])
			s.eventually("DONE 1", "SELECT concat_ws(' ', state, jsonb_array_length(runs)) FROM task WHERE id = $1", behind[0])
			// Who names the id now means the row that has it.
			s.exec("UPDATE task SET state = 'PLAN', after = $2 WHERE id = $1", behind[0], []int64{freed})
			s.eventually("true", "SELECT awaits = $2 OR error LIKE '%after which%' FROM task WHERE id = $1", behind[0], freed)
		})
	}
}

// TestAFreedIDIsFoundByTheLookAtAllThatIsWaitedFor: somebody has deleted a task that others wait
// for, and another row has its id, which waits for one of them.
func TestAFreedIDIsFoundByTheLookAtAllThatIsWaitedFor(t *testing.T) {
	t.Parallel()
	for what, then := range map[string]string{
		"one waits for it":                "",
		"two wait for it, for either row": `; INSERT INTO task (input, after, priority) VALUES ('SELECT 1', '{%[1]d}', 10)`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			first := s.add("input, plan", "SELECT 1", "infinity")
			behind := s.successor("SELECT 1", first)
			s.eventually("true", "SELECT awaits = $2 FROM task WHERE id = $1", behind, first)
			s.exec("BEGIN")
			s.exec(fmt.Sprintf("DELETE FROM task WHERE id = %[1]d; INSERT INTO task (id, input, after) VALUES (%[1]d, 'SELECT 1', '{%[2]d}')"+then, first, behind))
			s.exec("COMMIT")
			s.becomes(behind, "DONE")
		})
	}
}

// TestAFreedIDIsFoundBehindThoseThatWaitForItsRow, who come first: since the id had another row they
// have been looked at, and who was to run after the first one has not.
func TestAFreedIDIsFoundBehindThoseThatWaitForItsRow(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		hiding int
		again  bool // another leader comes
	}{
		"one": {hiding: 1}, "more than are looked at together": {hiding: batchMost + 100}, "one, and another leader": {hiding: 1, again: true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			first := s.add("input, plan", "SELECT 1", "infinity")
			behind := s.successor("SELECT 1", first)
			s.eventually("true", "SELECT awaits = $2 FROM task WHERE id = $1", behind, first)
			release := s.lock(behind, "FOR UPDATE")
			s.exec(fmt.Sprintf("DELETE FROM task WHERE id = %[1]d; INSERT INTO task (id, input, plan) VALUES (%[1]d, 'SELECT 1', 'infinity'); "+
				"INSERT INTO task (input, after, priority) SELECT 'SELECT 1', '{%[1]d}', 10 FROM generate_series(1, %[2]d)", first, c.hiding))
			s.eventually(fmt.Sprint(c.hiding), "SELECT count(*) FROM task WHERE awaits = $1 AND priority = 10", first)
			if c.again {
				s.drain()
			}
			release()
			if c.again {
				s.serve()
			}
			s.becomes(behind, "DONE")
			s.exec("UPDATE task SET plan = now() WHERE id = $1", first)
			s.eventually("0", "SELECT count(*) FROM task WHERE awaits IS NOT NULL")
		})
	}
}

// TestAFreedIDIsFoundBehindALongAfter that names it, too.
func TestAFreedIDIsFoundBehindALongAfter(t *testing.T) {
	t.Parallel()
	s := play(t)
	first := s.add("input, plan", "SELECT 1", "infinity")
	behind := s.successor("SELECT 1", first)
	s.exec("INSERT INTO task (input, after, priority) SELECT 'SELECT 1', array_agg(-i) || $1::int8, 10 FROM generate_series(1, 1000) AS i", first)
	s.eventually("2", "SELECT count(*) FROM task WHERE awaits = $1", first)
	s.exec(fmt.Sprintf("DELETE FROM task WHERE id = %[1]d; INSERT INTO task (id, input, plan) VALUES (%[1]d, 'SELECT 1', 'infinity')", first))
	s.becomes(behind, "DONE")
	s.eventually("0", "SELECT count(*) FROM task WHERE awaits IS NOT NULL")
}

// TestAChangedAfterIsLookedAtAgain, also where triggers of an earlier version know nothing of met.
func TestAChangedAfterIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	s := play(t)
	first, second := s.add("input, plan", "SELECT 1", "infinity"), s.add("input, plan", "SELECT 1", "infinity")
	behind := s.successor("SELECT 1", first)
	s.eventually("true", "SELECT awaits = $2 FROM task WHERE id = $1", behind, first)
	s.exec("SET session_replication_role = replica")
	s.exec("UPDATE task SET after = $2, awaits = NULL, freed = NULL WHERE id = $1", behind, []int64{second})
	s.exec("RESET session_replication_role")
	s.eventually("true", "SELECT awaits = $2 AND met[1] = (SELECT p.created FROM task AS p WHERE p.id = $2) FROM task WHERE id = $1", behind, second)
	s.exec("UPDATE task SET after = $2 WHERE id = $1", behind, []int64{first})
	s.eventually("true", "SELECT awaits = $2 AND met[1] = (SELECT p.created FROM task AS p WHERE p.id = $2) FROM task WHERE id = $1", behind, first)
	s.exec("DELETE FROM task WHERE id = $1", first)
	s.becomes(behind, "DONE")
}

// TestWhoseAwaitedIsTakenAwayHoldsUpNobodyElse: the leader writes it, and anybody with UPDATE may.
func TestWhoseAwaitedIsTakenAwayHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	s := play(t)
	first, second := s.add("input, plan", "SELECT 1", "infinity"), s.add("input, plan", "SELECT 1", "infinity")
	robbed, behind := s.successor("SELECT 1", first), s.successor("SELECT 1", second)
	s.eventually("2", "SELECT count(*) FROM task WHERE awaits IS NOT NULL")
	s.exec("UPDATE task SET awaited = NULL WHERE id = $1", robbed)
	s.exec("DELETE FROM task WHERE id = $1", second)
	s.becomes(behind, "DONE")
}

// TestWhoWaitsForTheLeastIDIsFoundWhenItIsGone, though it has been deleted while nobody led.
func TestWhoWaitsForTheLeastIDIsFoundWhenItIsGone(t *testing.T) {
	t.Parallel()
	s := play(t)
	const least = -1 << 63
	s.exec("INSERT INTO task (id, created, input, plan) VALUES ($1, '-infinity', 'SELECT 1', 'infinity')", int64(least))
	behind := s.successor("SELECT 1", least)
	s.eventually("true", "SELECT awaits = $2 AND awaited = '-infinity' FROM task WHERE id = $1", behind, int64(least))
	s.drain()
	s.exec("DELETE FROM task WHERE id = $1", int64(least))
	s.serve()
	s.becomes(behind, "DONE")
}
