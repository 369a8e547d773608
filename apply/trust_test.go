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
