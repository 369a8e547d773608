package work

import "testing"

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
