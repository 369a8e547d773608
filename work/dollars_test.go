package work

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestNamesThatLookLikeParametersAreNone: of a table, its schema and columns of the user's, where the
// end of a task is written in a session of its role. Else another table could be meant.
func TestNamesThatLookLikeParametersAreNone(t *testing.T) {
	t.Parallel()
	for i, names := range [][2]string{{"public", "task"}, {"s$1 $$", `t$1 "$2" '$3' $`}} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			quoted := pgx.Identifier(names[:]).Sanitize()
			c := founded(t, func(c *company) {
				c.target.Schema, c.target.Table = names[0], names[1]
				if names[0] != "public" {
					c.exec("CREATE SCHEMA " + pgx.Identifier{names[0]}.Sanitize() + c.named(" AUTHORIZATION $serving"))
				}
				c.exec("CREATE TABLE " + quoted + ` (id bigserial PRIMARY KEY, input text NOT NULL, "price$1" int, "it's $2" text DEFAULT '$3')`)
				c.exec("ALTER TABLE " + quoted + c.named(" OWNER TO $serving"))
			})
			c.serve()
			c.settled()
			c.exec(c.named("GRANT SELECT, INSERT ON " + quoted + " TO $alice; GRANT USAGE ON SCHEMA " + pgx.Identifier{names[0]}.Sanitize() + " TO $alice; GRANT USAGE ON ALL SEQUENCES IN SCHEMA " +
				pgx.Identifier{names[0]}.Sanitize() + " TO $alice"))
			c.must(c.alice, "CREATE TABLE effect (what text); INSERT INTO "+quoted+` (input, repeat, max_failures, "price$1") VALUES ('INSERT INTO public.effect SELECT session_user', '10 ms', 1, 7)`)
			c.eventually("true", "SELECT (SELECT count(*) > 2 FROM effect) OR EXISTS (SELECT FROM "+quoted+" WHERE state = 'FAIL')")
			if wrong := c.get("SELECT coalesce(string_agg(concat_ws(' ', state, error, \"price$1\", \"it's $2\"), '; '), '') FROM " + quoted + ` WHERE state NOT IN ('PLAN', 'TAKE', 'WORK', 'DONE') OR "price$1" <> 7 OR "it's $2" <> '$3'`); wrong != "" {
				t.Error(wrong)
			}
			if logged := c.logged(); strings.Contains(logged, `"level":"error"`) {
				t.Error(logged)
			}
		})
	}
}
