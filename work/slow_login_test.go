//go:build slow

package work

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgtaskd/remote"
	"pgtaskd/server"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// TestSlowLoginsOfARoleTakeFewPlaces: whatever makes them slow, others' tasks start meanwhile, and
// all its own run once that is over.
func TestSlowLoginsOfARoleTakeFewPlaces(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	p := throughProxy(t)
	c := founded(t, func(c *company) {
		through, err := remote.Parse(p.DSN(c.dsn))
		if err != nil {
			c.t.Fatal(err)
		}
		c.target.Connect = through.With(remote.Settings{"user": c.serving})
		c.target.Run = 4
		c.exec(c.named("GRANT $bob TO $serving"))
	})
	hung, free := make(chan struct{}, 1000), make(chan struct{})
	p.Watch(func(_ int, _ bool, kind byte, body []byte) proxy.Verdict {
		if kind == proxy.Startup && bytes.Contains(body, []byte("\x00user\x00"+c.alice+"\x00")) {
			hung <- struct{}{}
			select {
			case <-free:
			case <-t.Context().Done():
			}
		}
		return proxy.Pass
	})
	c.opens()
	c.must(c.alice, `INSERT INTO task ("group", input) SELECT 'g' || i, 'SELECT 1' FROM generate_series(1, 50) AS i`)
	select {
	case <-hung:
	case <-time.After(patient):
		t.Fatal("nobody logs in")
	}
	c.othersStart()
	c.eventually("true", "SELECT count(*) > 40 FROM task WHERE state = 'PLAN' AND plan > base")
	if said := c.get("SELECT max(error) FROM task WHERE state = 'PLAN'"); !strings.Contains(said, "Logins of the role take long") {
		t.Errorf("a task that waits says %s", said)
	}
	close(free)
	c.eventually("50", c.named("SELECT count(*) FROM task WHERE role = '$alice' AND state = 'DONE'"))
}

// TestPasswordsOfManyIterationsKeepNobodyWaiting, be it a role's or a remote's, though each task asks
// for a session of its own. The tasks that wait say what would help.
func TestPasswordsOfManyIterationsKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	for _, remotely := range []bool{false, true} { // one after the other, as they take much processor
		if !servertest.Thorough && !remotely {
			continue
		}
		t.Run(fmt.Sprint("remotely: ", remotely), func(t *testing.T) {
			own := servertest.New(t, server.Options{HBA: []string{"local all +slow scram-sha-256"}})
			c := foundedOn(t, own.DSN("postgres"), func(c *company) {
				password := fmt.Sprintf(" PASSWORD '%s'", servertest.Verifier(t, "secret", 500_000))
				c.exec(c.named("CREATE ROLE slow; GRANT $bob TO $serving; CREATE ROLE far LOGIN IN ROLE slow" + password))
				if !remotely {
					c.exec(c.named("REVOKE $alice FROM $serving; GRANT slow TO $alice; ALTER ROLE $alice" + password))
				}
				c.target.Roles = map[string]remote.Credential{c.alice: {Command: "echo secret"}, c.bob: {}}
				c.target.Remotes = map[string]string{"far": c.target.Connect.With(remote.Settings{"user": "far", "password": "secret"}).String()}
			})
			c.opens()
			c.exec(c.named("SET ROLE $alice"))
			c.exec(`INSERT INTO task ("group", remote, input, count) SELECT 'g' || i, CASE WHEN $1 THEN 'far' END, 'SELECT 1', 1 FROM generate_series(1, 500) AS i`, remotely)
			c.exec("RESET ROLE")
			c.eventually("true", "SELECT bool_or(state = 'DONE') FROM task")
			c.othersStart()
			c.eventually("true", "SELECT bool_or(error LIKE '%scram_iterations%') FROM task WHERE state = 'PLAN'")
		})
	}
}

// othersStart wants bob's tasks to start at once.
func (c *company) othersStart() {
	c.t.Helper()
	for i := range 5 {
		began := time.Now()
		c.becomes(c.asks(c.bob, "SELECT 1", `"group"`, fmt.Sprintf("'bob %d'", i)), "DONE")
		if took := time.Since(began); took > servertest.Limit(3*time.Second) {
			c.t.Errorf("a task of another role had to wait %s", took)
		}
	}
}

// opens has the table served.
func (c *company) opens() {
	c.t.Helper()
	c.serve()
	c.settled()
	c.exec(c.named("GRANT SELECT, INSERT, UPDATE ON task TO $alice, $bob; GRANT USAGE ON SEQUENCE task_id_seq TO $alice, $bob"))
}
