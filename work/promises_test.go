package work

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/major"
	"pgtaskd/remote"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// promise is a kind of statement and its result when the connection breaks in hold() of its first
// run.
type promise struct {
	name  string
	input string // {} is different with and without rerun
	count string // SQL that counts its effects; "": those of effect()

	atomic      bool   // what the row shows before the run
	again, once string // with and without rerun: state, SQLSTATE if any, effects
}

// promises are the lines of docs/reference.md, "Which promise holds for what".
var promises = []promise{
	{"read", "SELECT hold()", "", true, "DONE 0", "FAIL 08006 0"},
	{"write", "INSERT INTO effect VALUES (current_setting('pg_task.id')::int8); UPDATE effect SET id = id; SELECT hold()", "", true, "DONE 1", "FAIL 08006 0"},
	{"merge", "MERGE INTO effect USING (SELECT current_setting('pg_task.id')::int8 AS id) AS n ON false WHEN NOT MATCHED THEN INSERT VALUES (n.id); SELECT hold()", "", true, "DONE 1", "FAIL 08006 0"},
	{"ddl", "CREATE TABLE made{} (); SELECT hold()", "SELECT count(*) FROM pg_class WHERE relname = 'made{}'", true, "DONE 1", "FAIL 08006 0"},
	{"several", "SELECT effect(); SELECT hold(); SELECT effect()", "", true, "DONE 2", "FAIL 08006 0"},
	{"do", "DO $$BEGIN PERFORM effect(); PERFORM hold(); END$$", "", true, "DONE 1", "FAIL 08006 0"},
	{"call", "CALL whole()", "", true, "DONE 1", "FAIL 08006 0"},
	{"open", "BEGIN; SELECT effect(), hold()", "", true, "DONE 1", "FAIL 08006 0"},
	{"savepoint", "SAVEPOINT s; SELECT effect(); ROLLBACK TO s; SELECT effect(), hold()", "", true, "DONE 1", "FAIL 08006 0"},
	{"temporary", "CREATE TEMP TABLE mine AS SELECT effect(); SET work_mem TO '1MB'; PREPARE mine AS SELECT 1; SELECT hold()", "", true, "DONE 1", "FAIL 08006 0"},
	{"cursor", "DECLARE c CURSOR WITH HOLD FOR SELECT effect(); FETCH c; SELECT hold()", "", true, "DONE 1", "FAIL 08006 0"},
	{"lock", "SELECT pg_advisory_lock(hashtext('{}')), effect(), hold()", "", true, "DONE 1", "FAIL 08006 0"},
	{"object", "SELECT lo_create(abs(hashtext('{}'))::oid); SELECT hold()", "SELECT count(*) FROM pg_largeobject_metadata WHERE oid = abs(hashtext('{}'))::oid", true, "DONE 1", "FAIL 08006 0"},
	{"copy", "COPY (SELECT effect(), hold()) TO STDOUT", "", true, "DONE 1", "FAIL 08006 0"},
	{"foreign table", "INSERT INTO there VALUES (current_setting('pg_task.id')::int8); SELECT hold()", "", true, "DONE 1", "FAIL 08006 0"},
	{"hidden", "SELECT hidden('numbers{}'), effect(), hold()", "SELECT last_value FROM numbers{}", true, "DONE 2", "FAIL 08006 1"},

	{"own", "BEGIN; SELECT effect(); COMMIT; SELECT hold()", "", false, "DONE 2", "FAIL 08006 1"},
	{"chain", "BEGIN; SELECT effect(); COMMIT AND CHAIN; SELECT effect(), hold()", "", false, "DONE 3", "FAIL 08006 1"},
	{"rollback", "BEGIN; SELECT effect(); ROLLBACK; SELECT effect(), hold()", "", false, "DONE 1", "FAIL 08006 0"},
	{"prepare", "BEGIN; SELECT effect(); PREPARE TRANSACTION 'promise{}'; SELECT hold()", "SELECT count(*) FROM pg_prepared_xacts WHERE gid = 'promise{}'", false, "FAIL 42710 1", "FAIL 08006 1"},
	{"call with commit", "CALL in_two()", "", false, "DONE 3", "FAIL 08006 1"},
	{"do with commit", "DO $$BEGIN PERFORM effect(); COMMIT; PERFORM effect(), hold(); END$$", "", false, "DONE 3", "FAIL 08006 1"},
	{"vacuum", "VACUUM (ANALYZE) held", "", false, "DONE 0", "FAIL 08006 0"},
	{"concurrently", "CREATE INDEX CONCURRENTLY ON indexed (held(id + {n}))", "", false, "DONE 0", "FAIL 08006 0"},
	{"program", "COPY (SELECT 1) TO PROGRAM 'cat >> program{}'; SELECT hold()", "SELECT length(pg_read_file('program{}')) / 2", false, "DONE 2", "FAIL 08006 1"},
	{"sequence", "SELECT nextval('numbers{}'), effect(), hold()", "SELECT last_value || ' ' || (SELECT count(*) FROM effect WHERE id = $1) FROM numbers{}", false, "DONE 2 1", "FAIL 08006 1 0"},
	{"dblink", "SELECT dblink_exec(self(), 'INSERT INTO effect VALUES (' || current_setting('pg_task.id') || ')'), hold()", "", false, "DONE 2", "FAIL 08006 1"},
	{"remote", "SELECT effect(); SELECT hold()", "", true, "DONE 1", "FAIL 08006 0"},
}

// TestPromises breaks the connections of all kinds of tasks while they run.
func TestPromises(t *testing.T) {
	t.Parallel()
	p, err := proxy.Start(servertest.Server(t).Socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	s := prepared(t, func(target *Target) {
		dsn := p.DSN(servertest.Server(t).DSN(target.Connect["dbname"]))
		if target.Connect, err = remote.Parse(dsn); err != nil {
			t.Fatal(err)
		}
		target.Remotes = map[string]string{"self": dsn}
		target.Run = 2 * len(promises)
	})
	s.exec(script("promises"))
	s.serve()
	s.settled()
	merges := major.Merge.Of(s.conn)
	// The whole server shares files and prepared transactions.
	database := s.get("SELECT oid FROM pg_database WHERE datname = current_database()")
	type try struct {
		promise
		rerun bool
		id    int64
		mark  *strings.Replacer
	}
	var tries []try
	for i, promise := range promises {
		if promise.name == "merge" && !merges {
			continue
		}
		for k, rerun := range []bool{true, false} {
			t := try{promise, rerun, 0, strings.NewReplacer("{}", fmt.Sprintf("_%d_%d_%s", i, k, database), "{n}", fmt.Sprint(k))}
			s.exec("CREATE SEQUENCE " + t.mark.Replace("numbers{}"))
			var self any
			if promise.name == "remote" {
				self = "self"
			}
			t.id = s.add(`"group", input, rerun, remote`, t.mark.Replace("{}"), t.mark.Replace(promise.input), rerun, self)
			tries = append(tries, t)
		}
	}
	// Tasks that build indexes on one table wait for each other.
	const held = "(wait_event = 'PgSleep' OR wait_event_type = 'Lock')"
	s.eventually(fmt.Sprint(len(tries)), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "+held)
	s.eventually(fmt.Sprint(len(tries)), "SELECT count(*) FROM task WHERE state = 'WORK'")
	p.Cut()
	// A remote session would not notice the cut.
	s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND " + held)
	s.eventually("0", "SELECT count(*) FROM task WHERE state IN ('PLAN', 'TAKE', 'WORK')")
	for _, try := range tries {
		count, want := "SELECT count(*) FROM effect WHERE id = $1", try.again
		if try.count != "" {
			count = try.mark.Replace(try.count)
		}
		if !try.rerun {
			want = try.once
		}
		want = fmt.Sprintf("%t 1 %s", try.atomic, want)
		got := s.get("SELECT concat_ws(' ', atomic::text, interrupted, state, sqlstate, ("+count+")) FROM task WHERE id = $1", try.id)
		t.Run(fmt.Sprint(try.name, " rerun ", try.rerun), func(t *testing.T) {
			if got != want {
				t.Errorf("got %s, want %s: %s", got, want, s.row(try.id, "error, attempt"))
			}
		})
	}
	for _, try := range tries { // else the database cannot be dropped
		if try.name == "prepare" {
			s.exec(try.mark.Replace("ROLLBACK PREPARED 'promise{}'"))
		}
	}
}
