package work

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// TestARefusedRepetitionIsSaidInTheRowAndTheLog: if the table refuses the repetition, the task is
// DONE, and its row says that the series has ended, and why.
func TestARefusedRepetitionIsSaidInTheRowAndTheLog(t *testing.T) {
	t.Parallel()
	for i, c := range []struct{ name, before, input, want string }{
		{"a unique column", "ALTER TABLE task ADD UNIQUE (data)", "INSERT INTO public.effect VALUES (1)", "DONE 23505 1"},
		{"a unique column, reading", "ALTER TABLE task ADD UNIQUE (data)", "SELECT 1", "DONE 23505 0"},
		{"a unique index", `CREATE UNIQUE INDEX mine ON task ("group") WHERE repeat > '0'`, "INSERT INTO public.effect VALUES (1)", "DONE 23505 1"},
		{"an exclusion", `ALTER TABLE task ADD EXCLUDE (repeat WITH =)`, "INSERT INTO public.effect VALUES (1)", "DONE 23P01 1"},
		{"a trigger that returns null", `CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN CASE WHEN NEW.parent IS NULL THEN NEW END; END$$;
			CREATE TRIGGER skip BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION skip()`, "INSERT INTO public.effect VALUES (1)", "DONE 55000 1"},
		{"a trigger that returns null, reading", `CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN CASE WHEN NEW.parent IS NULL THEN NEW END; END$$;
			CREATE TRIGGER skip BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION skip()`, "SELECT 1", "DONE 55000 0"},
		{"nothing", "", "INSERT INTO public.effect VALUES (1)", "DONE  1"},
	} {
		if !servertest.Thorough && i%4 != 1 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			s.exec("CREATE TABLE effect (n int)")
			if c.before != "" {
				s.exec(c.before)
			}
			id := s.add("input, repeat, data", c.input, "1 day", "mine")
			s.becomes(id, "DONE", "FAIL")
			got := s.get("SELECT concat(state, ' ', sqlstate, ' ', (SELECT count(*) FROM effect)) FROM task WHERE id = $1", id)
			if got != c.want {
				t.Errorf("%s, want %s: %s", got, c.want, s.get("SELECT error FROM task WHERE id = $1", id))
			}
			if c.before != "" {
				s.says("the table refuses the repetition of a task; its series has ended", `"error"`)
			}
			s.others()
		})
	}
}

// TestRepetitionRefused: the run keeps its result, and its row says that the series has ended.
func TestRepetitionRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int4)")
	s.refuse("INSERT", "NEW.parent IS NOT NULL")
	done := s.add(`input, repeat, data`, "SELECT 1", "1 day", "odd")
	wrote := s.add(`input, repeat, data`, "INSERT INTO effect VALUES (1)", "1 day", "odd")
	fail := s.add(`input, repeat, data`, "SELECT 1/0", "1 day", "odd")
	s.exec("INSERT INTO task (input, repeat, data, plan) VALUES ('SELECT 1', '1 day', 'odd', now() - interval '1 month')")
	s.others()
	for id, state := range map[int64]string{done: "DONE", wrote: "DONE", fail: "FAIL"} {
		s.becomes(id, state)
		if said := s.get("SELECT error FROM task WHERE id = $1", id); !strings.Contains(said, "not this one") || strings.Contains(said, "division by zero") != (id == fail) {
			t.Error(said)
		}
		s.says(`"level":"error"`, "its series has ended", fmt.Sprintf(`"id":%d`, id))
	}
	if n := s.get("SELECT count(*) FROM effect"); n != "1" {
		t.Error("effects: ", n)
	}
	s.others()
}
