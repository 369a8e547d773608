//go:build slow

package attack

import (
	"errors"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// Somebody who may CREATE in the schema makes what pgtaskd is about to make, and commits it at the
// moment between its look and its making: when it waits for them. Or it waits for something else of
// theirs, which they roll back when they have committed what comes later.
func TestBetweenLookAndMake(t *testing.T) {
	t.Parallel()
	o, replace := made(t), file(t, "replace")
	const index = "CREATE TABLE $n.pgtaskd_open_$h (a int)"
	for name, makes := range map[string]struct{ before, later string }{
		"types and functions": {before: o.types + o.functions + o.indexes},
		"tables":              {before: "CREATE TABLE $t (id bigserial PRIMARY KEY, input kit.word); CREATE TRIGGER evil BEFORE INSERT ON $t FOR EACH ROW EXECUTE FUNCTION kit.fire()"},
		"views":               {before: "CREATE VIEW $t AS SELECT 1::int8 AS id"},
		"register": {index, `CREATE TABLE $n.pgtaskd_session_$h (pid int4, started timestamptz); GRANT ALL ON $n.pgtaskd_session_$h TO PUBLIC;
			CREATE RULE evil AS ON DELETE TO $n.pgtaskd_session_$h DO ALSO SELECT kit.caught('rule')`},
		"controllers": {index, `CREATE TABLE $t_leader (controller text PRIMARY KEY, leads bool, since timestamptz, seen timestamptz, host text, pid int4, version text, run int4, timezone text);
			GRANT ALL ON $t_leader TO PUBLIC; CREATE RULE evil AS ON DELETE TO $t_leader DO ALSO SELECT kit.caught('rule')`},
		"groups": {
			"CREATE FUNCTION $n.pgtaskd_group_note_$h() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
			"CREATE FUNCTION $n.pgtaskd_group_tell_$h() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
		},
	} {
		for _, printed := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", printed"}[printed], func(t *testing.T) {
				t.Parallel()
				a := attack{stands: true, named: `no table|duplicate key|(view|relation|table|type) "?(task|printed|state)`}
				s := newScene(t, "postgres")
				a.tables = map[bool]string{false: "public.task own.task low.task", true: "public.printed own.printed"}[printed]
				if makes.later != "" {
					a.tables = strings.Fields(a.tables)[0] // each has to be waited for
				}
				s.choose(a)
				s.exec(s.safe, create)
				s.configure(nil)
				s.exec(s.mallory, "BEGIN")
				s.exec(s.mallory, makes.before)
				commit := make(chan error, 1)
				go func() { commit <- s.commitWhenAwaited(makes.later) }()
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

// commitWhenAwaited commits the attacker's transaction, or what comes later instead, when a session
// waits for it, or when nobody has for a while.
func (s *scene) commitWhenAwaited(later string) error {
	look := s.connect(s.dsn("$p"), "pg_catalog")
	servertest.Comes(servedIn/4, func() bool {
		results, err := look.PgConn().Exec(s.Context(), strings.ReplaceAll(
			"SELECT FROM pg_stat_activity AS w JOIN pg_stat_activity AS m ON m.pid = ANY (pg_blocking_pids(w.pid)) WHERE m.usename = 'mallory'", "mallory", s.roles["$m"])).ReadAll()
		return err != nil || len(results[0].Rows) > 0
	})
	if later == "" {
		return s.try(s.mallory, "COMMIT")
	}
	return errors.Join(s.try(s.as("$m"), later), s.try(s.mallory, "ROLLBACK"))
}
