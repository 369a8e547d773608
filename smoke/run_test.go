package smoke

import (
	"strings"
	"testing"
)

// TestWork: a row shows a lasting run while it runs.
func TestWork(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	var id string
	prompt(t, func(int) bool {
		id = u.add(`input, "group"`, "'SELECT pg_sleep(2), statement_timestamp(), pg_backend_pid()', 'work ' || clock_timestamp()")
		u.until("SELECT state = 'WORK' AND start IS NOT NULL AND pid IS NOT NULL FROM task WHERE id = $1", id)
		// The promise is 200 ms; the rest is for the test itself.
		return u.value("SELECT clock_timestamp() - start < interval '400 ms' FROM task WHERE id = $1", id) == "t"
	})
	work := u.task(id)
	done := u.becomes(id, "DONE")
	u.shows(done, "pid", work.text("pid"), "start", work.text("start"), "output", "pg_sleep\tstatement_timestamp\tpg_backend_pid\n\t"+
		strings.Split(strings.Split(done.text("output"), "\n")[1], "\t")[1]+"\t"+work.text("pid"))
	u.is(`(SELECT split_part(split_part(output, E'\n', 2), E'\t', 2)::timestamptz - start BETWEEN '0' AND interval '1.5 s' FROM task WHERE id = $1)`, "t", id)
	u.is("(SELECT stop - start BETWEEN '2 s' AND '5 s' FROM task WHERE id = $1)", "t", id)
}

// TestStartIsNotTheClaim: in a lane of one, a task starts after the task before it has ended.
func TestStartIsNotTheClaim(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	g := group(t)
	u.exec(`INSERT INTO task ("group", input) SELECT ` + g + `, 'SELECT pg_sleep(0.2)' FROM generate_series(1, 3)`)
	u.ended(g, 3)
	u.is(`(SELECT bool_and(start >= ended) FROM (SELECT start, lag(stop) OVER (ORDER BY id) AS ended FROM task WHERE "group" = `+g+`) AS p)`, "t")
}

// TestWorkBeforeTheStart: a task that is not exactly once is WORK before it starts.
func TestWorkBeforeTheStart(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	g := group(t)
	for _, input := range []string{
		`BEGIN; SELECT state FROM task WHERE "group" = ` + g + `; COMMIT`,
		`PREPARE p AS SELECT state FROM task WHERE "group" = ` + g + `; EXECUTE p; ROLLBACK`,
	} {
		id := u.add("input", "$$"+input+"$$")
		row := u.becomes(id, "DONE")
		if !strings.Contains(row.text("output"), "\nWORK\n") {
			t.Errorf("%s shows %q", input, row.text("output"))
		}
		u.exec("DELETE FROM task WHERE id = " + id)
	}
}

func TestLargeInput(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input, data", "'SELECT length(''' || repeat('x', 7 << 20) || '''), length(current_setting(''pg_task.data''))', repeat('y', 1 << 20)")
	u.shows(u.becomes(id, "DONE"), "output", "length\tlength\n7340032\t1048576")

	// The statement in the error is cut.
	id = u.add("input", "'SELECT nosuch /*' || repeat('x', 1 << 20) || '*/'")
	u.becomes(id, "FAIL")
	u.is("(SELECT octet_length(error) <= 65536 AND error LIKE E'ERROR:  column \"nosuch\" does not exist at character 8\\nSTATEMENT:  SELECT nosuch /*xxx%' FROM task WHERE id = $1)", "t", id)
	id = u.add("input", "'DO $$ BEGIN FOR n IN 1..5000 LOOP RAISE NOTICE ''%'', repeat(''x'', 50); END LOOP; END $$'")
	u.becomes(id, "DONE")
	u.is("(SELECT octet_length(notice) BETWEEN 60000 AND 65536 FROM task WHERE id = $1)", "t", id)
}

// TestEffectsComeBeforeDone: the effects of a DONE task are visible; when they are visible, its row
// is prepared.
func TestEffectsComeBeforeDone(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	u.exec("CREATE TABLE seen (id int8)")
	for range 5 {
		id := u.add("input", "'INSERT INTO seen VALUES (current_setting(''pg_task.id'')::int8)'")
		u.until("SELECT EXISTS (SELECT FROM seen WHERE id = $1)", id)
		u.is("(SELECT state = 'DONE' OR state = 'WORK' AND xact IS NOT NULL FROM task WHERE id = $1)", "t", id)
		u.shows(u.becomes(id, "DONE"), "output", "INSERT 0 1")
	}
}
