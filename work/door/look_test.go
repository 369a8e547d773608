package door

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

// TestLookWaitsForWhatIsNotCommitted, even if the right to make the trigger is gone.
func TestLookWaitsForWhatIsNotCommitted(t *testing.T) {
	t.Parallel()
	s := set(t)
	servertest.Exec(t, s.conn, mTrigger+"GRANT USAGE ON SCHEMA work TO m; GRANT TRIGGER ON work.task TO m")
	m, svc := s.as("m"), s.as("svc")
	servertest.Exec(t, m, "BEGIN; CREATE TRIGGER x BEFORE INSERT ON work.task FOR EACH ROW EXECUTE FUNCTION other.t()")
	target := Target{Table: task, Path: "work"}
	_, err := Look(t.Context(), svc, target)
	if answer := new(pgconn.PgError); !errors.As(err, &answer) || answer.Code != "55P03" {
		t.Fatalf("the door does not wait for m's transaction: %v", err)
	}
	looked := make(chan Findings, 1)
	go func() {
		found, err := Look(t.Context(), svc, target)
		if err != nil {
			t.Error(err)
		}
		looked <- found
	}()
	servertest.Wait(t, time.Second, "the look waits for the lock", func() bool {
		return servertest.Get(t, s.conn, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'work.task'::regclass") == "1"
	})
	servertest.Exec(t, m, "COMMIT")
	found := <-looked
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.What == "function other.t()" }) {
		t.Errorf("m's trigger is not seen: %v", found)
	}
}

// TestLookWithoutRights: a role looks even if it may not lock the table.
func TestLookWithoutRights(t *testing.T) {
	t.Parallel()
	s := set(t)
	servertest.Exec(t, s.conn, "GRANT TRIGGER ON work.task TO m")
	found, err := Look(t.Context(), s.as("app"), Target{Table: task, Trust: []string{"svc"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Mend != "REVOKE TRIGGER ON work.task FROM m" {
		t.Errorf("app finds %v", found)
	}
}

// TestMadeStripsWhatWasMade: default privileges give m TRIGGER on new tables.
func TestMadeStripsWhatWasMade(t *testing.T) {
	t.Parallel()
	s := set(t)
	servertest.Exec(t, s.conn, "GRANT CREATE ON SCHEMA other TO svc; ALTER DEFAULT PRIVILEGES FOR ROLE svc GRANT ALL ON TABLES TO m")
	svc := s.as("svc")
	servertest.Exec(t, svc, "CREATE TABLE other.mine (); CREATE TABLE other.mine_leader ()")
	tx, err := svc.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := Made(t.Context(), tx, Target{Table: sql.Table{Schema: "other", Name: "mine"}, Inserter: true})
	if err != nil || found.Err() != nil {
		t.Fatal(err, found.Err())
	}
	for _, table := range []string{"other.mine", "other.mine_leader"} {
		if servertest.Get(t, svc, "SELECT has_table_privilege('m', $1, 'TRIGGER')", table) == "true" {
			t.Errorf("m has TRIGGER on %s", table)
		}
	}
}

func TestFindingsSayHowTheyAreMended(t *testing.T) {
	t.Parallel()
	f := Findings{
		{Grade: Refuse, Who: "m", Way: "may CREATE in", What: "schema work", Mend: "REVOKE CREATE ON SCHEMA work FROM m"},
		{Grade: Warn, Who: Public, Way: "may CREATE in", What: "schema other", Mend: "REVOKE CREATE ON SCHEMA other FROM PUBLIC"},
	}
	want := `role "m" may CREATE in schema work: REVOKE CREATE ON SCHEMA work FROM m, or trust the role: "trust": ["m"]`
	if got := f.Err().Error(); got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
	want = "PUBLIC may CREATE in schema other: REVOKE CREATE ON SCHEMA other FROM PUBLIC"
	if got := f[1].String(); got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
	if err := f[1:].Err(); err != nil {
		t.Errorf("a warning refuses: %v", err)
	}
}

func TestSchemasOfAPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][]string{
		"":                       {},
		`""`:                     {},
		`"$user", public`:        {"svc", "public"},
		"$user,public":           {"svc", "public"},
		` App , "B,c" ,"d""e" `:  {"app", "B,c", `d"e`},
		"pg_catalog, pg_temp, a": {"a"},
		`"unended`:               {"unended"},
		"a\t,\nb":                {"a", "b"},
	} {
		if got := schemas(path, "svc"); !slices.Equal(got, want) {
			t.Errorf("%q has the schemas %q, not %q", path, got, want)
		}
	}
}
