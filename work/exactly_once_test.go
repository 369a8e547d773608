package work

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestExactlyOnce: sessions of tasks and of the leader are terminated and cancelled while tasks
// write. The effects exist once if the row says DONE, and not at all if it says FAIL.
func TestExactlyOnce(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int8)")
	const insert = "INSERT INTO effect VALUES (current_setting('pg_task.id')::int8)"
	s.exec(`INSERT INTO task (input, max, "group", repeat, active) SELECT CASE g % 4
		WHEN 0 THEN '` + quote(insert) + `'
		WHEN 1 THEN '` + quote(insert) + `; SELECT pg_sleep(0.02)'
		WHEN 2 THEN 'SELECT pg_sleep(0.15); ` + quote(insert) + `'
		ELSE 'SELECT pg_sleep(0.01)' END,
		g % 5, 'g' || g % 7, CASE WHEN g % 11 = 0 THEN interval '1 year' ELSE '0' END, '0' FROM generate_series(1, 1000) AS g`)
	random := rand.New(rand.NewPCG(1, 2))
	other := s.connect()
	for n := 0; s.get("SELECT count(*) FROM task WHERE state IN ('PLAN', 'TAKE', 'WORK') AND parent IS NULL") != "0"; n++ {
		end := "pg_terminate_backend"
		if random.IntN(2) == 0 {
			end = "pg_cancel_backend"
		}
		who := "'pg_task %'"
		if random.IntN(6) == 0 {
			who = "'pgtaskd %'"
		}
		if n < 100 {
			if _, err := other.Exec(t.Context(), "SELECT "+end+"(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE "+who+
				" ORDER BY random() LIMIT 1"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := other.Exec(t.Context(), "SELECT pg_sleep($1)", random.Float64()*0.05); err != nil {
			t.Fatal(err)
		}
		if n > 2000 {
			t.Fatal("never done: ", s.get(`SELECT json_agg(w) FROM (SELECT state, count(*) FROM task GROUP BY 1) AS w`))
		}
	}
	if wrong := s.get(`SELECT json_agg(w) FROM (
		SELECT t.id, t.state, t.input, t.attempt, t.interrupted, t.error, count(e.id) FROM task AS t LEFT JOIN effect AS e ON e.id = t.id
		WHERE t.parent IS NULL AND t.input LIKE '%INSERT%' GROUP BY t.id
		HAVING count(e.id) <> CASE WHEN t.state = 'DONE' THEN 1 ELSE 0 END) AS w`); wrong != "NULL" {
		t.Error("not exactly once: ", wrong)
	}
	if wrong := s.get(`SELECT json_agg(w) FROM (SELECT t.id, t.state, t.next FROM task AS t WHERE t.parent IS NULL AND t.repeat > '0'
		AND (SELECT count(*) FROM task AS n WHERE n.parent = t.id) <> 1) AS w`); wrong != "NULL" {
		t.Error("broken or forked chains: ", wrong)
	}
	if n, _ := strconv.Atoi(s.get("SELECT max(attempt - interrupted) FROM task WHERE parent IS NULL")); n > 6 {
		t.Error("attempts:", n)
	}
}

func quote(sql string) string {
	quoted := ""
	for _, r := range sql {
		if r == '\'' {
			quoted += "'"
		}
		quoted += string(r)
	}
	return quoted
}
