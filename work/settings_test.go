package work

import (
	"testing"

	"pgtaskd/exec/fault"
)

// TestSettings of a task are its session's while it runs, and nobody else's.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := play(t, func(target *Target) { target.Run = 1 })
	s.exec("CREATE SCHEMA sales; CREATE TABLE sales.orders (id int); INSERT INTO sales.orders VALUES (7)")
	const shown = "SELECT current_setting('work_mem') || ' ' || current_setting('enable_sort') || ' ' || coalesce(current_setting('my.own', true), '-')"
	for _, c := range []struct{ input, settings, want string }{
		{shown, `{"work_mem": "7MB", "enable_sort": false, "my.own": 5.5}`, "7MB off 5.5"},
		{"SELECT id FROM orders", `{"search_path": "sales, public"}`, "7"},
		{"INSERT INTO orders VALUES (8) RETURNING id", `{"search_path": "sales"}`, "8\nINSERT 0 1"[:1]},
		{"SELECT current_setting('transaction_isolation')", `{"default_transaction_isolation": "serializable"}`, "serializable"},
		{"SELECT current_user", `{}`, "postgres"},
	} {
		for _, save := range []bool{false, true} {
			own, other := s.add("input, settings, save, delete", c.input, c.settings, save, false), s.add("input, save, delete", shown, save, false)
			s.becomes(own, "DONE")
			s.becomes(other, "DONE")
			if got := s.get("SELECT output FROM task WHERE id = $1", own); got != c.want {
				t.Errorf("%s, %s: %s", c.settings, c.input, got)
			}
			if got := s.get("SELECT output FROM task WHERE id = $1", other); got != "4MB on -" && got != "4MB on " {
				t.Errorf("behind %s: %s", c.settings, got)
			}
		}
	}
}

// TestSettingsThatCannotBe FAIL the task, once, and say why; the lane goes on.
func TestSettingsThatCannotBe(t *testing.T) {
	t.Parallel()
	s := play(t)
	for settings, state := range map[string]string{
		`{"work_mem": "much"}`: "22023", `{"no_such_setting": 1}`: "42704", `{"max_connections": 5}`: "55P02", `{"": "x"}`: "42704", `{"role": "nobody here"}`: "22023",
	} {
		id := s.add("input, settings", "SELECT 1", settings)
		s.becomes(id, "FAIL", "DONE")
		if got := s.get("SELECT format('%s %s %s', state, sqlstate, attempt) FROM task WHERE id = $1", id); got != "FAIL "+state+" 1" {
			t.Error(settings, got, s.get("SELECT error FROM task WHERE id = $1", id))
		}
	}
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	for _, settings := range []string{`[]`, `"x"`, `{"a": null}`, `{"a": {}}`, `{"a": [1]}`} {
		if _, err := s.conn.Exec(t.Context(), "INSERT INTO task (input, settings) VALUES ('', $1)", settings); !fault.Has(err, "23514") {
			t.Error(settings, err)
		}
	}
}
