//go:build slow

package attack

import (
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// Somebody who may CREATE in the schema makes what pgtaskd is about to make, and commits it at the
// moment between its look and its making: when it waits for them.
func TestBetweenLookAndMake(t *testing.T) {
	t.Parallel()
	o, replace := made(t), file(t, "replace")
	for name, before := range map[string]string{
		"types and functions": o.types + o.functions + o.indexes,
		"tables":              "CREATE TABLE $t (id bigserial PRIMARY KEY, input kit.word); CREATE TRIGGER evil BEFORE INSERT ON $t FOR EACH ROW EXECUTE FUNCTION kit.fire()",
		"views":               "CREATE VIEW $t AS SELECT 1::int8 AS id",
	} {
		for _, printed := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", printed"}[printed], func(t *testing.T) {
				t.Parallel()
				a := attack{stands: true, named: `no table|duplicate key|(view|relation|table|type) "?(task|printed|state)`}
				s := newScene(t, "postgres")
				a.tables = map[bool]string{false: "public.task own.task low.task", true: "public.printed own.printed"}[printed]
				s.choose(a)
				s.exec(s.safe, create)
				s.configure(nil)
				s.exec(s.mallory, "BEGIN")
				s.exec(s.mallory, before)
				commit := make(chan error, 1)
				go func() { commit <- s.commitWhenAwaited() }()
				if printed {
					s.print(a)
				}
				p := run(t, "--config", s.config)
				if err := <-commit; err != nil {
					t.Fatal(err)
				}
				s.serve(a, p, "at the first start")
				s.exec(s.mallory, replace)
				s.use(a, p, "when attacked", len(p.Log.String()))
				p.stop(t)
				s.serve(a, run(t, "--config", s.config), "after a restart")
				s.verdict(a)
			})
		}
	}
}

// commitWhenAwaited commits the attacker's transaction when a session waits for it, or when nobody
// has for a while.
func (s *scene) commitWhenAwaited() error {
	look := s.connect(s.dsn("$p"), "pg_catalog")
	servertest.Comes(servedIn/4, func() bool {
		results, err := look.PgConn().Exec(s.Context(), strings.ReplaceAll(
			"SELECT FROM pg_stat_activity AS w JOIN pg_stat_activity AS m ON m.pid = ANY (pg_blocking_pids(w.pid)) WHERE m.usename = 'mallory'", "mallory", s.roles["$m"])).ReadAll()
		return err != nil || len(results[0].Rows) > 0
	})
	return s.try(s.mallory, "COMMIT")
}
