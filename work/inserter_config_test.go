package work

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/sql/schema"
)

// TestATableOfInsertersRunsNothingUnderTheServingRole: if the configuration lacks "as", run and
// check refuse the target until the trigger is gone.
func TestATableOfInsertersRunsNothingUnderTheServingRole(t *testing.T) {
	t.Parallel()
	for _, create := range []bool{true, false} {
		t.Run(fmt.Sprintf("create %v", create), func(t *testing.T) {
			t.Parallel()
			c := employed(t)
			c.drain()
			id := c.asks(c.alice, "SELECT session_user")
			c.target.Inserter, c.target.Create = false, create
			const want = `table public.task runs each task under the role that inserted it: write "as": "inserter" into the target`
			if faults := Check(t.Context(), c.target).Faults; len(faults) != 1 || !strings.HasPrefix(faults[0], want) ||
				!strings.HasSuffix(faults[0], "DROP TRIGGER pgtaskd_role ON public.task, and rename column role") {
				t.Errorf("check complains %q", faults)
			}
			led := c.leads()
			c.serve()
			c.says(strings.ReplaceAll(want, `"`, `\"`))
			if state := c.state(id); state != "PLAN" || c.leads() != led {
				t.Errorf("it leads: %v, and the task is %s", c.leads() != led, state)
			}
			c.exec("DROP TRIGGER pgtaskd_role ON public.task") // on purpose
			c.becomes(id, "DONE")
			if who := c.get("SELECT output FROM task WHERE id = $1", id); who != c.serving {
				t.Error("it runs as ", who)
			}
		})
	}
}

// TestPartsOfInsertersAreRefused: tasks that are inserted into a part run with the whole table.
func TestPartsOfInsertersAreRefused(t *testing.T) {
	t.Parallel()
	for name, whole := range someOf(map[string]string{
		"partition": "CREATE TABLE whole (LIKE task INCLUDING DEFAULTS INCLUDING GENERATED) PARTITION BY RANGE (plan); ALTER TABLE whole ATTACH PARTITION task FOR VALUES FROM ('2000-01-01') TO ('3000-01-01')",
		"child":     "CREATE TABLE whole (LIKE task INCLUDING DEFAULTS INCLUDING GENERATED); ALTER TABLE task INHERIT whole",
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t, func(target *Target) { target.Inserter = true })
			s.installed()
			must(t, s.conn, whole)
			s.target.Inserter, s.target.Table = false, "whole"
			if faults := strings.Join(Check(t.Context(), s.target).Faults, "\n"); !strings.Contains(faults, "table public.task runs each task under the role") {
				t.Errorf("check complains %q", faults)
			}
		})
	}
}

// TestATableThatComesToBeOfInsertersRunsNoTaskOfOthers: not even tasks inserted at the same moment,
// whether the leader is idle or has tasks.
func TestATableThatComesToBeOfInsertersRunsNoTaskOfOthers(t *testing.T) {
	t.Parallel()
	for _, tasks := range []int{0, 2000} {
		t.Run(fmt.Sprintf("%d tasks", tasks), func(t *testing.T) {
			t.Parallel()
			c := founded(t, aloof, func(c *company) { c.target.Inserter = false })
			c.serve()
			c.settled()
			c.becomes(c.add("input", "SELECT 1"), "DONE")
			c.exec("INSERT INTO task (input) SELECT 'SELECT 1' FROM generate_series(1, $1)", tasks)
			script := schema.DDL(c.target.Relation(), schema.Options{Inserter: true, Serving: c.serving, Role: c.serving})
			const insert = `SET LOCAL search_path = public; GRANT INSERT ON task TO $alice; GRANT USAGE ON SEQUENCE task_id_seq TO $alice; SET LOCAL ROLE $alice;
				INSERT INTO task (input) SELECT 'SELECT session_user' FROM generate_series(1, 1 + $n / 100); COMMIT;`
			c.must(c.serving, strings.TrimSuffix(script, "COMMIT;\n")+strings.Replace(insert, "$n", fmt.Sprint(tasks), 1))
			c.says("table public.task runs each task under the role that inserted it")
			if begun := c.get("SELECT count(*) FROM task WHERE role = $1 AND state <> 'PLAN'", c.alice); begun != "0" {
				t.Errorf("%s tasks have begun: %s", begun, c.get("SELECT string_agg(DISTINCT output, ' ') FROM task WHERE role = $1", c.alice))
			}
		})
	}
}

// TestAControllerThatKnowsTheInsertersTakesOver: while a task of the other controller still runs.
func TestAControllerThatKnowsTheInsertersTakesOver(t *testing.T) {
	t.Parallel()
	c := founded(t, aloof, func(c *company) { c.target.Inserter = false })
	c.serve()
	c.settled()
	long := c.add(`input, "group"`, "SELECT pg_sleep(600)", "long")
	c.becomes(long, "WORK")
	c.must(c.serving, schema.DDL(c.target.Relation(), schema.Options{Inserter: true, Serving: c.serving, Role: c.serving}))
	c.says("runs each task under the role that inserted it")
	c.exec(c.named("GRANT SELECT, INSERT, UPDATE ON task TO $alice; GRANT USAGE ON SEQUENCE task_id_seq TO $alice"))
	id := c.asks(c.alice, "SELECT session_user")
	c.target.Inserter = true
	c.serve()
	c.becomes(id, "DONE")
	if who := c.get("SELECT output FROM task WHERE id = $1", id); who != c.alice {
		t.Error("it runs as ", who)
	}
	c.exec("UPDATE task SET state = 'STOP' WHERE id = $1", long)
	c.eventually("", "SELECT coalesce((SELECT 'runs' FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()), '')")
}
