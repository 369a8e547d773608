package smoke

import "testing"

func TestOrder(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	g := group(t)
	u.exec(`INSERT INTO task ("group", data, max, priority, input) SELECT ` + g + `, data, max, priority, 'SELECT pg_sleep(0.05)' FROM (VALUES
		(5, 0, 0), (3, 0, 9), (1, 2, 0), (6, 0, 0), (2, 1, 5), (4, 0, 8)) AS v (data, max, priority)`)
	u.ended(g, 6)
	// The first two may run together, and start together.
	u.is(`(SELECT string_agg(CASE WHEN data > '2' THEN data ELSE '-' END, ' ' ORDER BY start) FROM task WHERE "group" = `+g+`)`, "- - 3 4 5 6")
}

// TestOrderOfLateComers: tasks that come while the lane is full are sorted with the others.
func TestOrderOfLateComers(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	g := group(t)
	u.becomes(u.add("input", `'SELECT pg_sleep(2)'`), "WORK")
	for _, row := range []string{"3, 0", "4, 0", "2, 1", "1, 7", "5, -1"} {
		u.exec(`INSERT INTO task ("group", data, priority, input) VALUES (` + g + `, ` + row + `, 'SELECT 1')`)
	}
	u.ended(g, 6)
	u.is(`(SELECT string_agg(data, ' ' ORDER BY start) FROM task WHERE "group" = `+g+`)`, "1 2 3 4 5")
}

// TestOrderIsThatOfTheRows: a change of a waiting task changes its place.
func TestOrderIsThatOfTheRows(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	g := group(t)
	first := u.add("input", `'SELECT pg_sleep(60)'`)
	u.becomes(first, "WORK")
	u.exec(`INSERT INTO task ("group", data, input) SELECT ` + g + `, n, 'SELECT 1' FROM generate_series(1, 3) AS n`)
	u.exec(`UPDATE task SET priority = 1 WHERE "group" = ` + g + ` AND data = '3'`)
	u.exec(`UPDATE task SET plan = 'infinity' WHERE "group" = ` + g + ` AND data = '1'`)
	u.exec("UPDATE task SET state = 'STOP' WHERE id = " + first)
	u.ended(g, 3)
	u.is(`(SELECT string_agg(data, ' ' ORDER BY start) FROM task WHERE "group" = `+g+` AND start IS NOT NULL)`, "3 2")
}
