//go:build slow

package work

import (
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

// TestAnIdleTargetCostsFewTransactions: at most 8 a minute, and 2 more with a controller that stands
// by, beside its tries for the lock.
func TestAnIdleTargetCostsFewTransactions(t *testing.T) {
	t.Parallel()
	const most, tries = 8, 150 // a try each 0.5 s, and chance
	for _, wake := range []sql.Wake{sql.Notify, sql.WAL} {
		t.Run(string(wake), func(t *testing.T) {
			t.Parallel()
			s := play(t, deaf, func(t *Target) { t.Wake = wake })
			s.becomes(s.add("input", "SELECT 1"), "DONE")
			other := servertest.Connect(t, s.dsn, func(c *pgx.ConnConfig) { c.Database = "postgres" })
			minute := func() (n int) {
				count := func() int {
					n, err := strconv.Atoi(servertest.Get(t, other, "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1", s.target.Connect["dbname"]))
					if err != nil {
						t.Fatal(err)
					}
					return n
				}
				before := count()
				time.Sleep(time.Minute)
				return count() - before
			}
			time.Sleep(brisk + time.Second)
			if n := minute(); n > most {
				t.Errorf("an idle target costs %d transactions a minute", n)
			}
			second := &stage{t: t, dsn: s.dsn, target: s.target, conn: s.connect()}
			second.serve()
			second.says("standing by")
			time.Sleep(5 * time.Second) // its first looks
			if n := minute(); n > most+2+tries {
				t.Errorf("with one standing by it costs %d", n)
			}
		})
	}
}
