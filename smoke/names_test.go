package smoke

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestNames: names that need quotes, some of the greatest length.
func TestNames(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	long := strings.Repeat("ü", 31) + "x"
	names := [][2]string{
		{`it's "a schema"; DROP`, `it's "a table"; DROP`},
		{long, long},
		{"SELECT", "User"},
		{"%s :table $1", `back\slash :schema`},
		{"public", "task\nand\ttab"},
	}
	var targets []object
	for _, name := range names {
		targets = append(targets, object{"schema": name[0], "table": name[1]})
	}
	s := serve(t, database, targets...)
	for _, name := range names {
		u := s.user(t)
		u.table = pgx.Identifier{name[0], name[1]}.Sanitize()
		row := u.becomes(u.add("input, repeat", literal("SELECT current_setting('pg_task.schema') = "+literal(name[0])+
			", current_setting('pg_task.table') = "+literal(name[1]))+", '1 day'"), "DONE")
		u.shows(row, "output", "?column?\t?column?\nt\tt")
		u.is("(SELECT count(*) FROM "+u.table+" WHERE parent = $1)", "1", row.text("id"))
		id := u.add("input", "'SELECT pg_sleep(30)'")
		u.becomes(id, "WORK")
		u.exec("UPDATE " + u.table + " SET state = 'STOP' WHERE id = " + id)
		u.until("SELECT stop IS NOT NULL FROM "+u.table+" WHERE id = $1", id)
	}
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
