package exec

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// evil makes functions, operators and types that our statements would use if they relied on
// search_path. Each of them raises an error.
func (b *bench) evil(schema string) {
	var sql strings.Builder
	body := "LANGUAGE plpgsql AS 'BEGIN RAISE ''captured''; END'"
	for _, kind := range []string{"text", "name", `"char"`, "int2", "int4", "int8", "bool", "oid", "timestamptz", "regclass", "xid"} {
		fmt.Fprintf(&sql, "CREATE FUNCTION %s.captured(%s, %[2]s) RETURNS bool %s;", schema, kind, body)
		for _, operator := range []string{"=", "<>", ">", ">=", "<", "<=", "/", "||", "~~", "!~~", "~~*"} {
			fmt.Fprintf(&sql, "CREATE OPERATOR %s.%s (LEFTARG = %s, RIGHTARG = %[3]s, FUNCTION = %[1]s.captured);", schema, operator, kind)
		}
		fmt.Fprintf(&sql, "CREATE DOMAIN %s.%s AS pg_catalog.text CHECK (pg_catalog.length(VALUE) < 0);", schema, kind)
	}
	for _, function := range []string{
		"set_config(text, text, bool)", "current_setting(text)", "current_setting(text, bool)", "clock_timestamp()", "statement_timestamp()", "txid_current_if_assigned()", "txid_current()", "unnest(text[])",
		"pg_backend_pid()", "pg_stat_get_activity(int4)", "pg_postmaster_start_time()",
	} {
		fmt.Fprintf(&sql, "CREATE FUNCTION %s.%s RETURNS bool %s;", schema, function, body)
	}
	b.exec(`SET search_path = pg_catalog; CREATE SCHEMA IF NOT EXISTS ` + schema + `;` + sql.String() + `RESET search_path`)
}

// TestASchemaBeforePgCatalogChangesNoStatementOfOurs: the database's owner sets this search_path.
func TestASchemaBeforePgCatalogChangesNoStatementOfOurs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.evil("evil")
	b.exec("ALTER DATABASE " + pgx.Identifier{b.watch.Config().Database}.Sanitize() + " SET search_path = evil, pg_temp, pg_catalog, public")
	for _, local := range []bool{true, false} {
		cfg, err := pgconn.ParseConfig(b.dsn)
		if err != nil {
			t.Fatal(err)
		}
		cfg.RuntimeParams["client_encoding"] = "UTF8"
		b.session.Close()
		if b.session, err = Connect(t.Context(), cfg, 10*time.Second, local, true); err != nil {
			t.Fatal(err)
		}
		if _, err := b.session.ServerStart(t.Context()); err != nil {
			t.Error(err)
		}
		b.allWays(local)
	}
	// The control: an unqualified operator raises the error.
	result, _ := b.run(spec("SELECT 1 = 1"), nil)
	if failure(result) != "P0001" {
		t.Error("not captured: ", result.Failure)
	}
}

// TestTemporaryTypesChangeNoStatementOfOurs: a task leaves temporary types with the names of the
// types that we use.
func TestTemporaryTypesChangeNoStatementOfOurs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var sql strings.Builder
	for _, kind := range []string{"int2", "int4", "int8", "name", "text", "bool", "timestamptz", "regclass", "xid"} {
		fmt.Fprintf(&sql, "CREATE DOMAIN pg_temp.%s AS pg_catalog.text CHECK (pg_catalog.length(VALUE) < 0);", kind)
	}
	for _, save := range []bool{false, true} {
		b.session.Close()
		b.open()
		leaves := spec(sql.String())
		leaves.Save = save
		for range 2 {
			result, _ := b.run(leaves, nil)
			if verdict := b.end(result); verdict == nil || !verdict.Committed {
				t.Fatal(result.Failure, verdict)
			}
		}
		keeps := spec("SELECT pg_catalog.count(*) FROM pg_catalog.pg_type WHERE typtype = 'd' AND typnamespace = pg_my_temp_schema()")
		keeps.Save, keeps.Keep = save, save
		result, _ := b.run(keeps, nil)
		if want := map[bool]string{true: "9", false: "0"}[save]; output(result) != want {
			t.Errorf("it sees %s types, want %s (%v)", output(result), want, result.Failure)
		}
		b.end(result)
	}
}

// allWays runs tasks in every way: with save, as a Query, with a Claim, in a pipeline and so on.
func (b *bench) allWays(local bool) {
	b.t.Helper()
	ways := map[string]func(*Task){
		"alone": func(*Task) {}, "save": func(k *Task) { k.Save = true }, "kept": func(k *Task) { k.Save, k.Keep = true, true },
		"query": func(k *Task) { k.Query = !local }, "forced": func(k *Task) { k.Forced = true }, "own": func(k *Task) { k.Own = [][2]string{{"my.other", "y"}} },
		"claims": func(k *Task) { k.Claim = func(int64) bool { return true } }, "not atomic": func(k *Task) { k.Atomic = false },
		"not constant": func(k *Task) { k.Traits.Inert = false },
	}
	for name, change := range ways {
		for range 2 {
			var tail *Tail
			for range 3 {
				task := spec("SELECT 5")
				change(task)
				result, verdict := b.run(task, tail)
				if output(result) != "5" || verdict != nil && !verdict.Committed {
					b.t.Errorf("%s: %s %v %+v", name, output(result), result.Failure, verdict)
				}
				if tail = nil; result.Open {
					tail = &Tail{}
				}
			}
			if tail != nil {
				if verdict, err := b.session.End(tail); err != nil || !verdict.Committed {
					b.t.Errorf("%s: %+v %v", name, verdict, err)
				}
			}
			if err := b.session.Reset(); err != nil {
				b.t.Errorf("%s: reset: %v", name, err)
			}
		}
	}
	until := time.Now().Add(time.Hour)
	for _, constant := range []bool{false, true} {
		b.open()
		first, second := spec("SELECT 6"), spec("SELECT 6")
		first.Traits.Inert, second.Traits.Inert, second.Until = constant, constant, until
		if _, _, err := b.session.Begin(nil, first, second); err != nil {
			b.t.Fatal(err)
		}
		if behind := b.session.Behind(); behind != 1 {
			b.t.Fatal("behind: ", behind)
		}
		if result, err := b.session.Await(first); err != nil || output(result) != "6" {
			b.t.Fatal(result.Failure, err)
		}
		if verdict, _, begun, err := b.session.Next(); err != nil || !begun {
			b.t.Fatal(verdict, begun, err)
		}
		if result, err := b.session.Await(second); err != nil || output(result) != "6" {
			b.t.Fatal(result.Failure, err)
		}
		if verdict, err := b.session.End(&Tail{}); err != nil || !verdict.Committed {
			b.t.Fatal(verdict, err)
		}
		b.session.Close()
	}
	b.open()
}
