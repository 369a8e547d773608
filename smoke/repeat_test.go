package smoke

import "testing"

func TestRepeat(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	g := group(t)
	first := u.add("input, repeat", `'SELECT pg_sleep(0.05)', '300 ms'`)
	u.ended(g, 4)
	u.exec(`UPDATE task SET state = 'STOP' WHERE "group" = ` + g)
	u.until(`SELECT NOT EXISTS (SELECT FROM task WHERE "group" = ` + g + ` AND state NOT IN ('DONE', 'STOP'))`)
	u.is(`(WITH RECURSIVE chain AS (SELECT * FROM task WHERE id = $1 UNION ALL SELECT t.* FROM task AS t JOIN chain AS c ON t.parent = c.id AND c.next = t.id)
		SELECT count(*) = (SELECT count(*) FROM task WHERE "group" = `+g+`) FROM chain)`, "t", first)
	u.is(`(SELECT count(*) FROM task WHERE "group" = `+g+` AND next IS NULL)`, "1")
	// Plans are beats of the first plan, and come after the previous end.
	u.is(`(SELECT bool_and(mod(extract(epoch FROM n.plan - f.plan)::numeric, 0.3) = 0 AND n.plan > t.stop AND n.plan <= t.stop + interval '1.5 s')
		FROM task AS t JOIN task AS n ON n.id = t.next JOIN task AS f ON f.id = $1 WHERE t."group" = `+g+`)`, "t", first)
}

func TestRepeatWithDrift(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	g := group(t)
	u.exec(`INSERT INTO task ("group", input, repeat, drift, "delete") VALUES (` + g + `, '', '1 day', true, false)`)
	u.ended(g, 1)
	u.is(`(SELECT n.plan BETWEEN t.stop + interval '1 day' AND t.stop + interval '1 day 5 s' FROM task AS t JOIN task AS n ON n.id = t.next WHERE t."group" = `+g+`)`, "t")
}

// TestRepeatSkipsWhatWasMissed: missed periods are skipped, by the calendar.
func TestRepeatSkipsWhatWasMissed(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	for _, c := range []struct{ plan, repeat string }{
		{"2020-01-31 10:00+00", "1 month"},
		{"2020-02-29 10:00+00", "1 year"},
		{"1970-01-01 00:00+00", "1 second"},
		{"2000-01-01 00:00+00", "1 month 1 day 1 hour"},
		{"2025-12-31 23:59:59.5+00", "7 days"},
	} {
		id := u.add("plan, active, repeat, input", "'"+c.plan+"', '0', '"+c.repeat+"', 'SELECT 1'")
		row := u.becomes(id, "DONE")
		u.exec("UPDATE task SET state = 'STOP' WHERE id = " + row.text("next"))
		// "Now" is the moment at which the repetition was written.
		u.is(`(WITH RECURSIVE beat AS (
				SELECT greatest(1, floor(extract(epoch FROM n.created - t.plan) / extract(epoch FROM t.repeat) - CASE WHEN t.repeat < '28 days' THEN 1 ELSE 4 END))::int AS k,
					t.plan, t.repeat, n.created AS written, n.plan AS next
				FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.id = $1
				UNION ALL SELECT k + 1, plan, repeat, written, next FROM beat WHERE plan + k * repeat <= written)
			SELECT next = plan + k * repeat FROM beat ORDER BY k DESC LIMIT 1)`, "t", id)
	}
}

// TestRepeatCopies: the columns that a repetition copies.
func TestRepeatCopies(t *testing.T) {
	t.Parallel()
	const columns = `ADD COLUMN mine text, ADD COLUMN "my ""own"" column" int, ADD COLUMN upper text GENERATED ALWAYS AS (upper(mine)) STORED`
	database := newDatabase(t)
	u := connect(t, postgres.DSN(database))
	u.exec("CREATE TABLE task (id bigserial PRIMARY KEY, input text NOT NULL); ALTER TABLE task " + columns)
	serve(t, database, object{})
	u.repeats()

	// Columns that are added while the table is served.
	u.exec(`ALTER TABLE task RENAME COLUMN mine TO yours; ALTER TABLE task RENAME COLUMN "my ""own"" column" TO "your ""own"" column";
		ALTER TABLE task ADD COLUMN mine text, ADD COLUMN "my ""own"" column" int, DROP COLUMN upper`)
	u.repeats()
}

// repeats inserts a repeating task with all columns set, and compares its repetition.
func (u *user) repeats() {
	u.Helper()
	id := u.add(`mine, "my ""own"" column", repeat, input, data, "group", delimiter, quote, escape, "null", max, priority, timeout, active, live, count, save, header, string, retry, backoff, until`,
		`'x', 7, '1 day', 'SELECT 1/0', 'data', 'grüße', ';', '''', '', '-', 3, 4, '5 s', '6 days', '7 s', 8, true, false, false, 0, '9 s', now() + interval '10 days'`)
	next := u.becomes(id, "FAIL").text("next")
	u.is(`(SELECT coalesce(string_agg(o.key, ' ' ORDER BY o.key), '') FROM jsonb_each((SELECT to_jsonb(t) FROM task AS t WHERE id = $1)) AS o
		JOIN jsonb_each((SELECT to_jsonb(t) FROM task AS t WHERE id = $2)) AS n USING (key) WHERE o.value <> n.value)`,
		"atomic attempt created due error failures id next origin parent pid plan sqlstate start state stop", id, next)
	u.shows(u.task(next), "mine", "x", `my "own" column`, "7", "parent", id, "attempt", "0", "error", "NULL")
}

// TestRepeatKeepsItsBase: a retry moves the plan, but not the beat.
func TestRepeatKeepsItsBase(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input, repeat, retry, backoff", `'SELECT 1/0', '1 hour', 1, '200 ms'`)
	row := u.becomes(id, "FAIL")
	u.shows(row, "attempt", "2")
	u.is("(SELECT t.base < t.plan AND n.plan = t.base + t.repeat FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.id = $1)", "t", id)
}

func TestRepeatUntil(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input, repeat, until", "'SELECT 1', '1 day', now() + interval '23 hours'")
	u.shows(u.becomes(id, "DONE"), "next", "NULL")
}

// TestRepeatOnce: a chain does not fork when a task of it runs again.
func TestRepeatOnce(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input, repeat", "'SELECT 1', '1 day'")
	next := u.becomes(id, "DONE").text("next")
	u.exec("UPDATE task SET state = 'PLAN', input = 'SELECT 2' WHERE id = " + id)
	u.until("SELECT output = '2' FROM task WHERE id = $1", id)
	u.shows(u.task(id), "next", next, "state", "DONE")
	u.is("(SELECT count(*) FROM task WHERE parent = $1)", "1", id)
}
