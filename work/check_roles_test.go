package work

import (
	"slices"
	"strings"
	"testing"

	"pgtaskd/remote"
)

// TestCheckSaysWhichRolesCannotLogIn: of those in the configuration; and where tasks have the
// rights of a superuser.
func TestCheckSaysWhichRolesCannotLogIn(t *testing.T) {
	t.Parallel()
	c := founded(t, func(c *company) {
		c.exec("ALTER ROLE " + c.bob + " NOLOGIN")
		c.target.Roles = map[string]remote.Credential{c.alice: {}, c.bob: {}, "nobody_" + c.bob: {}, c.serving: {Command: "echo hush >&2; false"}}
	})
	r := Check(t.Context(), c.target)
	for _, want := range []string{
		`tasks of role "$bob" would fail: `, `tasks of role "nobody_$bob" would fail: `,
		`tasks of role "$serving" would fail: the password of the role can't be had`,
	} {
		if !slices.ContainsFunc(r.Doubts, func(said string) bool { return strings.HasPrefix(said, c.named(want)) }) {
			t.Errorf("it does not say %s", c.named(want))
		}
	}
	if said := strings.Join(r.Doubts, "\n"); len(r.Doubts) != 3 || strings.Contains(said, "hush") || len(r.Faults) > 0 {
		t.Errorf("it says %s and %s", said, r.Faults)
	}
	c.target.Inserter, c.target.Roles = false, nil
	c.target.Connect = c.target.Connect.With(remote.Settings{"user": "postgres"})
	if r := Check(t.Context(), c.target); len(r.Doubts) != 1 || !strings.Contains(r.Doubts[0], "is a superuser") {
		t.Error(r.Doubts)
	}
}
