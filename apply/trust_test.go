package apply_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgtaskd/apply"
	"pgtaskd/server/servertest"
)

// TestATableThatIsReplacedIsNotTouched: a view of a stranger's has come to have the table's name
// after that was looked at, and before it is read.
func TestATableThatIsReplacedIsNotTouched(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(context.Context, *stage) error{
		"apply": func(ctx context.Context, s *stage) error {
			jobs, err := apply.ReadText("jobs", "- {key: a, input: SELECT 2, repeat: 1 hour}\n", 1<<20)
			if err != nil {
				return err
			}
			_, err = apply.Run(ctx, s.own, public, jobs, apply.Options{Owner: "mine"})
			return err
		},
		"run-now": func(ctx context.Context, s *stage) error {
			_, err := apply.RunNow(ctx, s.own, public, "a", false)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			s.exec("INSERT INTO task (key, input) VALUES ('a', 'SELECT 1')")
			role := s.role()
			tx, err := s.conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s.exec(`CREATE FUNCTION evil() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'evil ran'; END $$;
				ALTER TABLE task RENAME TO old; CREATE VIEW task AS SELECT * FROM old WHERE evil();
				ALTER FUNCTION evil() OWNER TO ` + role + "; GRANT ALL ON old TO " + role + "; ALTER VIEW task OWNER TO " + role)
			ended := make(chan error, 1)
			go func() { ended <- do(t.Context(), s) }()
			other := servertest.Connect(t, s.conn.Config().ConnString())
			servertest.Wait(t, 20*time.Second, "the command waits for the table", func() bool {
				return servertest.Get(t, other, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pgtaskd-test' AND wait_event_type = 'Lock'") == "1"
			})
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; !strings.Contains(fmt.Sprint(err), "table public.task belongs to role "+role) {
				t.Error(err)
			}
		})
	}
}

// TestATableThatIsReplacedWhileItsLockIsWaitedForIsNotTouched: a stranger has a lock that lets the
// table be read, and puts a table of theirs in its place before it can be written.
func TestATableThatIsReplacedWhileItsLockIsWaitedForIsNotTouched(t *testing.T) {
	t.Parallel()
	s := play(t)
	ops, thief := s.role(), s.role()
	s.exec("GRANT SELECT, INSERT, UPDATE, DELETE ON task TO " + ops + "; GRANT USAGE ON SEQUENCE task_id_seq TO " + ops +
		"; GRANT CREATE ON DATABASE " + s.get("SELECT current_database()") + " TO " + thief + "; GRANT SELECT ON task TO " + thief)
	s.own = dial(t, s.conn.Config().ConnString()+" user="+ops)
	locker := servertest.Connect(t, s.conn.Config().ConnString())
	servertest.Exec(t, locker, "BEGIN; LOCK TABLE task IN SHARE ROW EXCLUSIVE MODE")
	jobs, err := apply.ReadText("jobs", "- {key: a, input: SELECT 2, repeat: 1 hour}\n", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := apply.Run(t.Context(), s.own, public, jobs, apply.Options{Owner: "mine"})
		ended <- err
	}()
	servertest.Wait(t, 20*time.Second, "the command waits for the table", func() bool {
		return s.get("SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND wait_event_type = 'Lock'", ops) == "1"
	})
	s.exec("ALTER SCHEMA public RENAME TO renamed")
	s.as(thief, `CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC; CREATE TABLE public.task (LIKE renamed.task INCLUDING DEFAULTS INCLUDING GENERATED);
		CREATE UNIQUE INDEX ON public.task (wait_key) WHERE wait_key IS NOT NULL; GRANT ALL ON public.task TO PUBLIC; ALTER TABLE public.task ALTER id SET DEFAULT 1;
		CREATE FUNCTION public.evil() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'evil ran'; END$$;
		CREATE TRIGGER t BEFORE INSERT ON public.task FOR EACH STATEMENT EXECUTE FUNCTION public.evil()`)
	servertest.Exec(t, locker, "ROLLBACK")
	if err := <-ended; err == nil || strings.Contains(err.Error(), "evil") {
		t.Error(err)
	}
}
