package work

import (
	"fmt"
	"strings"
	"testing"
)

// takes has ids taken by rows that are committed, and that nobody runs.
func (s *stage) takes(ids string, args ...any) {
	s.t.Helper()
	s.exec("SET session_replication_role = replica")
	s.exec("INSERT INTO task (id, plan, state, start, stop, input) SELECT id, now(), 'DONE', now(), now(), '' FROM ("+ids+") AS t (id) ON CONFLICT DO NOTHING", args...)
	s.exec("SET session_replication_role = origin")
}

// TestTakenIDsUseUpFewOthers: whoever takes ids that come next uses up these alone, wherever they
// are, and not those between them.
func TestTakenIDsUseUpFewOthers(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int8)")
	for i, input := range []string{"INSERT INTO effect VALUES (1)", "SELECT 1/0", "SELECT 1"} {
		first := int64(1_000_000 * (i + 1))
		s.exec("SELECT setval('task_id_seq', $1)", first)
		s.takes("SELECT $1 + g FROM generate_series(1, 17) AS g UNION ALL SELECT $1 + 17 + (2 << k) - 2 + w FROM generate_series(1, 15) AS k, generate_series(0, 4) AS w", first)
		id := s.add("id, input, repeat, delete", i, input, "1 day", false)
		s.eventually("true", "SELECT next IS NOT NULL FROM task WHERE id = $1", id)
		if used := s.get("SELECT last_value - $1 FROM task_id_seq", first); used != "18" {
			t.Errorf("%q has used up %s ids", input, used)
		}
	}
}

// TestManyTakenIDsFailNoTask, though one draw does not get past them.
func TestManyTakenIDsFailNoTask(t *testing.T) {
	t.Parallel()
	const many = 140_000
	for name, begin := range someOf(map[string]func(t *testing.T) (s *stage, inserts func(sql string)){
		"under one role": func(t *testing.T) (*stage, func(string)) {
			s := play(t)
			return s, func(sql string) { s.exec(sql) }
		},
		"under the roles that insert": func(t *testing.T) (*stage, func(string)) {
			firm := employed(t)
			alice := firm.as(firm.alice)
			return firm.stage, func(sql string) { firm.on(alice, sql) }
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, inserts := begin(t)
			s.exec("CREATE TABLE effect (id int8); GRANT INSERT ON effect TO PUBLIC")
			s.takes("SELECT 100 + g FROM generate_series(1, $1) AS g", many)
			for id, values := range []string{
				"'INSERT INTO effect VALUES (0)', false, now()",
				"'SELECT 1', false, now()",
				"'SELECT 1/0', false, now()",
				"'SELECT 1', true, now()",
				"'SELECT 1', false, now() - interval '2 hours'",
			} {
				s.exec("SELECT setval('task_id_seq', 101)")
				inserts(fmt.Sprintf(`INSERT INTO task (id, delete, "group", repeat, max_failures, on_fail, input, overlap, plan) VALUES (%d, false, 'g%[1]d', '1 day', 2, 'SELECT 2', %s)`, id, values))
				s.eventually("true", "SELECT next > $1 AND stop IS NOT NULL FROM task WHERE id = $2", many, id)
				if used := s.get("SELECT last_value - $1 < 110 FROM task_id_seq", many); used != "true" {
					t.Errorf("%s: %s ids are used up besides", values, s.get("SELECT last_value - $1 FROM task_id_seq", many))
				}
			}
			if got := s.get("SELECT string_agg(concat(state, attempt), ' ' ORDER BY id) FROM task WHERE id < 5"); got != "DONE1 DONE1 FAIL1 DONE1 GONE0" {
				t.Error(got)
			}
			if n := s.get("SELECT count(*) FROM effect"); n != "1" {
				t.Errorf("%s effects", n)
			}
			s.says(`"warn"`, "very many ids that come next are taken")
			if strings.Contains(s.logged(), "refuses") || s.leads() > 1 {
				t.Error("the leader has met more than that")
			}
		})
	}
}
