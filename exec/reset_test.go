package exec

import (
	"context"
	"slices"
	"testing"

	"pgtaskd/exec/traits"
)

// TestResetAfterCommit: the reset also removes what a trigger leaves at COMMIT, after the question.
func TestResetAfterCommit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE TABLE late (a int);
		CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
			CREATE TEMP TABLE mine (); EXECUTE 'PREPARE mine AS SELECT 1'; PERFORM pg_advisory_lock(7); LISTEN a; SET ROLE pg_monitor;
			RETURN NULL;
		END$$;
		CREATE CONSTRAINT TRIGGER late AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late()`)
	for _, before := range []string{"SELECT 1", "DO $$BEGIN END$$"} {
		first, _ := b.run(spec(before), nil)
		b.end(first)
		late, _ := b.run(spec("INSERT INTO late VALUES (1)"), nil)
		if !late.Open {
			t.Fatal(late.Failure)
		}
		b.aliveAfter(&Tail{})
	}
}

// hostileInputs change their session in every way, or try to remove our part of it.
var hostileInputs = []string{
	"SELECT 1", "SET work_mem = '1MB'", "SELECT set_config('my.own', 'x', false)", "SET LOCAL work_mem = '1MB'", "RESET ALL",
	"SET ROLE reset_other", "SET SESSION AUTHORIZATION reset_other", "SET LOCAL ROLE reset_other",
	"SET search_path = nowhere", "SET search_path = shadows, pg_catalog", "SELECT set_config('search_path', 'shadows, pg_catalog', false)",
	"SET statement_timeout = '1s'", "SELECT public.limits()", "SET LOCAL lock_timeout = '1ms'", "SET lock_timeout = '1ms'", "SET idle_in_transaction_session_timeout = '50ms'",
	"SET client_encoding = SJIS", "SET client_encoding = LATIN1", "SET standard_conforming_strings = off; SET backslash_quote = on", "SET DateStyle = 'SQL, DMY'; SET TimeZone = 'Asia/Tokyo'; SET bytea_output = escape",
	"SET default_transaction_read_only = on", "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE, DEFERRABLE",
	"SET row_security = off", "SET exit_on_error = on", "SET client_min_messages = debug5", "SET plan_cache_mode = force_generic_plan; SET jit = off", "SET transform_null_equals = on", "SET array_nulls = off",
	"LISTEN a", "LISTEN a; NOTIFY a", "UNLISTEN *",
	"PREPARE p AS SELECT 1", "SELECT 1; PREPARE p AS SELECT 1; EXECUTE p; SELECT 2", "DEALLOCATE ALL", "SELECT public.prepares()",
	"DO $$BEGIN EXECUTE 'PREPARE inside AS SELECT 1'; END$$", "DO $$BEGIN EXECUTE 'DEALLOCATE ALL'; END$$", "DISCARD PLANS", "DISCARD TEMP", "DISCARD SEQUENCES",
	"SELECT pg_advisory_lock(7), pg_advisory_lock(7), pg_advisory_lock_shared(8), pg_advisory_xact_lock(9)", "SELECT pg_advisory_lock(7); SET work_mem = '1MB'; SELECT 1/0",
	"CREATE TEMP TABLE mine ()", "CREATE TEMP TABLE mine () ON COMMIT DROP", "CREATE DOMAIN pg_temp.int8 AS pg_catalog.text", "CREATE FUNCTION pg_temp.clock_timestamp() RETURNS text LANGUAGE sql AS 'SELECT (1/0)::text'",
	"SELECT nextval('beads')", "SELECT setval('beads', 7)",
	"DECLARE c CURSOR FOR SELECT 1", "DECLARE c CURSOR WITH HOLD FOR SELECT 1", "DECLARE c CURSOR WITH HOLD FOR SELECT 1/(random()*0)::int", "DO $$BEGIN EXECUTE 'DECLARE c CURSOR WITH HOLD FOR SELECT 1'; END$$",
	"BEGIN; CREATE TEMP TABLE mine (); PREPARE p AS SELECT 1; LISTEN b; COMMIT", "COMMIT; BEGIN READ ONLY; SET work_mem = '1MB'", "VACUUM ends", "DISCARD ALL", "SAVEPOINT a; SET work_mem = '1MB'; ROLLBACK TO a",
	"SET work_mem = '1MB'; LISTEN c; SELECT nonsense",
}

// TestNothingIsLeft: the next task finds nothing that a task has done to the session, whether the
// COMMIT goes with the next task, before it, or the task is rolled back. And no change prevents the
// COMMIT.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE ROLE reset_other; CREATE SEQUENCE beads;
		CREATE FUNCTION limits() RETURNS text LANGUAGE sql AS $$SELECT set_config('statement_timeout', '1000', false)$$;
		CREATE FUNCTION prepares() RETURNS void LANGUAGE plpgsql AS $$BEGIN EXECUTE 'PREPARE hidden AS SELECT 1'; END$$`)
	t.Cleanup(func() { _, _ = b.watch.Exec(context.WithoutCancel(t.Context()), "DROP ROLE reset_other") })
	b.evil("shadows")
	for _, input := range hostileInputs {
		for name, ends := range map[string]func(*Result){
			"with the next": func(*Result) { b.aliveAfter(&Tail{}) },
			"before it":     func(r *Result) { b.end(r); b.alive() },
			"taken back":    func(*Result) { b.rollback(); b.alive() },
			"reset": func(r *Result) {
				b.end(r)
				if err := b.session.Reset(); err != nil || b.session.setup.state.dirty {
					t.Errorf("%s: %v", input, err)
				}
				b.alive()
			},
		} {
			var result *Result
			// A busy machine may exceed a limit of 1 ms.
			for tries := 0; tries < 20 && (result == nil || failure(result) == "57014"); tries++ {
				result, _ = b.run(spec(input), nil)
			}
			if traits.Examine(input).Atomic() && !result.Open && !slices.Contains([]string{"22012", "42703", "42P12"}, failure(result)) {
				t.Errorf("%s: %v", input, result.Failure)
			}
			if !result.Open {
				b.alive()
				break
			}
			if ends(result); t.Failed() {
				t.Fatalf("%s, %s", input, name)
			}
		}
	}
}

// TestFunctionsOfATaskDoNotShadowOurs: the question and COMMIT call the server's functions under
// any search_path.
func TestFunctionsOfATaskDoNotShadowOurs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE SCHEMA mine")
	b.evil("mine")
	for _, path := range []string{"mine, pg_catalog", "mine, public, pg_catalog, pg_temp", "pg_temp, mine, pg_catalog"} {
		for input, wrote := range map[string]bool{
			"INSERT INTO public.ends VALUES (1)": true, "SELECT pg_catalog.count(*) FROM public.ends": false,
			"CREATE FUNCTION pg_temp.txid_current_if_assigned() RETURNS pg_catalog.int8 LANGUAGE sql AS 'SELECT NULL::pg_catalog.int8'": true,
		} {
			result, _ := b.run(spec("SET search_path TO "+path+"; "+input), nil)
			if !result.Open || result.Wrote() != wrote || result.Stop.IsZero() {
				t.Errorf("%s: %s: %+v %v", path, input, result, result.Failure)
			}
			b.aliveAfter(&Tail{})
		}
	}
}

// TestARoleSetByALTERROLEIsSetAgainAfterEachReset: sessions of the login run as another role.
func TestARoleSetByALTERROLEIsSetAgainAfterEachReset(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE ROLE masked_other; CREATE ROLE masked_login LOGIN SUPERUSER; ALTER ROLE masked_login SET role TO masked_other; ALTER ROLE masked_login SET default_transaction_isolation TO serializable")
	t.Cleanup(func() {
		b.session.Close()
		_, _ = b.watch.Exec(context.WithoutCancel(t.Context()), "DROP ROLE masked_login, masked_other")
	})
	b.dsn += " user=masked_login"
	b.session.Close()
	b.open()
	const who = "SELECT session_user || ' ' || current_user || ' ' || current_setting('transaction_isolation')"
	for _, input := range []string{"SELECT 1", "SET ROLE pg_monitor", "RESET ROLE", "SET ROLE NONE", "SET SESSION AUTHORIZATION pg_monitor", "SET SESSION AUTHORIZATION DEFAULT"} {
		var tail *Tail
		for range 2 {
			first, _ := b.run(spec(input), tail)
			if !first.Open {
				t.Fatal(input, first.Failure)
			}
			next, _ := b.run(spec(who), &Tail{})
			if tail = (&Tail{}); output(next) != "masked_login masked_other serializable" {
				t.Errorf("after %s: %s %v", input, output(next), next.Failure)
			}
		}
		b.rollback()
	}
}
