package work

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgtaskd/major"
	"pgtaskd/remote"
	"pgtaskd/server/servertest"
)

// TestRoleThatMayNotRun: its task FAILs at once, and the row says what helps. Others in the lane
// run.
func TestRoleThatMayNotRun(t *testing.T) {
	t.Parallel()
	const member = "GRANT $bob TO $serving; "
	cases := []struct{ before, after, says string }{
		{says: `Add it to "roles" in the configuration, or GRANT "$bob" TO "$serving"`},
		{before: member, after: "ALTER ROLE $bob NOLOGIN", says: `ALTER ROLE "$bob" LOGIN`},
		{before: member + "ALTER ROLE $bob CONNECTION LIMIT 0", says: `CONNECTION LIMIT above 0`},
		{before: member, after: "ALTER ROLE $bob SUPERUSER", says: `ALTER ROLE "$bob" NOSUPERUSER`},
		{before: member, after: "ALTER ROLE $bob RENAME TO $bobby", says: `role "$bob" does not exist`},
		{before: member, after: "REVOKE CONNECT ON DATABASE $database FROM PUBLIC", says: `GRANT CONNECT ON DATABASE`},
		{after: "UPDATE task SET role = NULL WHERE role = '$bob'", says: "task has no role"},
		{before: member, says: "the password of the role can't be had"},
	}
	var bobs []string
	c := founded(t, func(c *company) {
		c.target.Roles = map[string]remote.Credential{}
		for _, k := range cases {
			bob := c.role()
			bobs = append(bobs, bob)
			if strings.Contains(k.says, "password") {
				c.target.Roles[bob] = remote.Credential{Command: "echo hush; exit 3"}
			}
			if k.before != "" {
				c.must("postgres", strings.ReplaceAll(k.before, "$bob", bob))
			}
		}
	})
	c.serve()
	c.settled()
	c.must("postgres", "GRANT SELECT, INSERT ON task TO PUBLIC; GRANT USAGE ON SEQUENCE task_id_seq TO PUBLIC")
	for i, bob := range bobs {
		if i != 5 { // in the other cases only the tested reason may fail the task
			c.must("postgres", "GRANT CONNECT ON DATABASE $database TO $serving, $alice, "+bob)
		}
		c.must("postgres", "SET ROLE "+bob+"; INSERT INTO task (id, input, plan) VALUES ("+fmt.Sprint(1000+i)+", 'SELECT session_user', 'infinity')")
	}
	named := func(i int, sql string) string {
		return c.named(strings.NewReplacer("$bobby", bobs[i]+"_by", "$bob", bobs[i]).Replace(sql))
	}
	for i, k := range cases {
		if k.after != "" {
			c.exec(named(i, k.after))
		}
	}
	t.Cleanup(func() {
		if _, err := c.conn.Exec(context.WithoutCancel(t.Context()), named(4, "ALTER ROLE $bobby RENAME TO $bob")); err != nil {
			t.Error(err)
		}
	})
	c.exec("UPDATE task SET plan = now()")
	c.becomes(c.asks(c.alice, "SELECT session_user"), "DONE")
	for i, k := range cases {
		id := int64(1000 + i)
		c.becomes(id, "FAIL")
		if said := c.get("SELECT error FROM task WHERE id = $1", id); !strings.Contains(said, named(i, k.says)) || strings.Contains(said, "hush") {
			t.Errorf("it says %s, want %s", said, named(i, k.says))
		}
	}
}

// TestRoleOfTheConfiguration: it logs in with the password from a file or a command. The serving
// role can end its sessions without being a member.
func TestRoleOfTheConfiguration(t *testing.T) {
	t.Parallel()
	c := founded(t, func(c *company) {
		c.exec(c.named("ALTER ROLE $alice PASSWORD 'word'; ALTER ROLE $bob PASSWORD 'word'; ALTER ROLE $serving PASSWORD 'other'; REVOKE $alice FROM $serving"))
		file := filepath.Join(c.t.TempDir(), "word")
		if err := os.WriteFile(file, []byte("word\nmore\n"), 0o600); err != nil {
			c.t.Fatal(err)
		}
		tcp, err := remote.Parse(servertest.Server(c.t).TCP(c.target.Connect["dbname"]))
		if err != nil {
			c.t.Fatal(err)
		}
		c.target.Connect = tcp.With(remote.Settings{"user": c.serving, "password": "other"})
		c.target.Roles = map[string]remote.Credential{c.alice: {File: file}, c.bob: {Command: "echo word"}}
	})
	c.serve()
	c.settled()
	c.exec(c.named("GRANT SELECT, INSERT, UPDATE ON task TO $alice, $bob; GRANT USAGE ON SEQUENCE task_id_seq TO $alice, $bob"))
	for _, role := range []string{c.alice, c.bob} {
		id := c.asks(role, "SELECT session_user")
		c.becomes(id, "DONE")
		if who := c.get("SELECT output FROM task WHERE id = $1", id); who != role {
			t.Errorf("%s, want %s", who, role)
		}
	}
	id := c.asks(c.bob, "SELECT pg_sleep(600)")
	c.becomes(id, "WORK")
	c.exec("UPDATE task SET state = 'STOP' WHERE id = $1", id)
	c.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = $1", id)
}

// TestCheckSaysWhichRolesCannotLogIn: of the roles in the configuration. Check also says if tasks
// have the rights of a superuser.
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

// TestTheHintLetsARoleRunItsTasks: the statement in the error works on this major, even for a role
// that is granted without SET.
func TestTheHintLetsARoleRunItsTasks(t *testing.T) {
	t.Parallel()
	c := employed(t)
	befores := []string{"REVOKE $bob FROM $serving"}
	if major.MemberOptions.Of(c.conn) {
		befores = append(befores, "GRANT $bob TO $serving WITH SET FALSE")
	}
	for _, before := range befores {
		c.exec(c.named(before))
		id := c.asks(c.bob, "SELECT session_user")
		c.becomes(id, "FAIL")
		_, grant, _ := strings.Cut(c.get("SELECT error FROM task WHERE id = $1", id), "or GRANT ")
		c.exec("GRANT " + strings.TrimSuffix(grant, "."))
		c.becomes(c.asks(c.bob, "SELECT session_user"), "DONE")
	}
}
