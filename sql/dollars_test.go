package sql

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// TestNamesMayHoldDollarQuotes: of the schema, the table, and the serving role; by pgtaskd and as
// printed.
func TestNamesMayHoldDollarQuotes(t *testing.T) {
	t.Parallel()
	for i, c := range []struct{ schema, table, role string }{
		{"public", "task", "a$$e"},
		{"a$", "task", "a$$e"},
		{"a$$e", "$pgtaskd$", "$pgtaskd$ e"},
		{"public", "a$$e\n$$;", "e"},
		{"a\n$$;", "$$", "\n$$;"},
	} {
		for _, printed := range []bool{false, true} {
			if !servertest.Thorough && printed != (i%2 == 0) {
				continue
			}
			t.Run(fmt.Sprint(i, printed), func(t *testing.T) {
				t.Parallel()
				conn := connect(t, servertest.Database(t))
				table, serving := Table{c.schema, c.table}, fmt.Sprint(c.role, i, printed)
				role := pgx.Identifier{serving}.Sanitize()
				execute(t, conn, "CREATE ROLE "+role+"; CREATE SCHEMA IF NOT EXISTS "+pgx.Identifier{c.schema}.Sanitize())
				t.Cleanup(func() {
					if _, err := conn.Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role, pgx.QueryExecModeSimpleProtocol); err != nil {
						t.Error(err)
					}
				})
				o := Options{Inserter: true, Serving: serving, Role: serving}
				if printed {
					script(t, conn, table, o)
				} else {
					if _, err := Install(t.Context(), conn, table, o); err != nil {
						t.Fatal(err)
					}
				}
				if missing, err := Missing(t.Context(), conn, table, o); err != nil || len(missing) > 0 {
					t.Error(missing, err)
				}
			})
		}
	}
}
