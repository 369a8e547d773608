package apply_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"

	"pgtaskd/apply"
)

// TestMissingRightsToReadAreNamed: whoever owns the table, the error says what to GRANT, and that
// is enough.
func TestMissingRightsToReadAreNamed(t *testing.T) {
	t.Parallel()
	grant := regexp.MustCompile(`GRANT [^;]+`)
	for name, do := range map[string]func(context.Context, *stage) error{
		"apply": func(ctx context.Context, s *stage) error {
			_, err := apply.Run(ctx, s.own, public, nil, apply.Options{Owner: "mine"})
			return err
		},
		"run-now": func(ctx context.Context, s *stage) error {
			_, err := apply.RunNow(ctx, s.own, public, "a", false)
			return err
		},
	} {
		for _, owned := range []bool{false, true} {
			t.Run(fmt.Sprint(name, owned), func(t *testing.T) {
				t.Parallel()
				s := play(t)
				s.exec("INSERT INTO task (key, input) VALUES ('a', 'SELECT 1')")
				role := s.role()
				if owned {
					s.exec("ALTER TABLE task OWNER TO " + s.role())
				}
				s.exec("REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT SELECT (id, key), INSERT, UPDATE, DELETE ON task TO " + role + "; GRANT USAGE ON SEQUENCE task_id_seq TO " + role)
				s.own = dial(t, s.conn.Config().ConnString()+" user="+role)
				grants := grant.FindAllString(fmt.Sprint(do(t.Context(), s)), -1)
				s.equal("statements", fmt.Sprint(grants), fmt.Sprintf(`[GRANT USAGE ON SCHEMA public TO %s GRANT SELECT ON TABLE public.task TO %[1]s]`, role))
				for _, statement := range grants {
					s.exec(statement)
				}
				if err := do(t.Context(), s); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
