//go:build slow

package work

import (
	"bytes"
	"testing"
	"time"

	"pgtaskd/remote"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// withstood is SQL that obeys no cancel, and does not notice that its client is gone.
const withstood = "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'client_connection_check_interval'; " +
	"DO $$BEGIN LOOP BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END$$"

// active counts a role's sessions that are at something.
const active = "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND state = 'active'"

// apart is a company whose serving role may log in as alice and is no member of hers, but of bob's.
func apart(t *testing.T, change ...func(*company)) *company {
	t.Helper()
	c := founded(t, change...)
	c.exec(c.named("REVOKE $alice FROM $serving; GRANT $bob TO $serving"))
	c.target.Roles = map[string]remote.Credential{c.alice: {}}
	return c
}

// opens has the table served.
func (c *company) opens() {
	c.t.Helper()
	c.serve()
	c.settled()
	c.exec(c.named("GRANT SELECT, INSERT, UPDATE ON task TO $alice, $bob; GRANT USAGE ON SEQUENCE task_id_seq TO $alice, $bob"))
}

// TestADrainEndsWhatItGivesUp, also where only a role may end its sessions.
func TestADrainEndsWhatItGivesUp(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	c := apart(t, func(c *company) { c.target.Grace = time.Minute })
	c.opens()
	id := c.asks(c.alice, withstood, "timeout", "'300 ms'")
	c.becomes(id, "WORK")
	c.drain()
	c.becomes(id, "FAIL")
	c.eventually("0", active, c.alice)
}

// TestALoginThatHangsKeepsNobodyWaiting: where only a role may end its sessions, and takes its time
// to log in, others' tasks start at once, and so do its own; sessions that we may end are ended. It
// is tried one login at a time, and when one succeeds, all of the sessions have ended.
func TestALoginThatHangsKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	p := throughProxy(t)
	c := apart(t, func(c *company) {
		through, err := remote.Parse(p.DSN(c.dsn))
		if err != nil {
			c.t.Fatal(err)
		}
		c.target.Connect = through.With(remote.Settings{"user": c.serving})
		c.target.Run = 20
	})
	hung, free := make(chan struct{}, 100), make(chan struct{})
	p.Watch(func(_ int, _ bool, kind byte, body []byte) proxy.Verdict {
		if kind == proxy.Startup && bytes.Contains(body, []byte("\x00user\x00"+c.alice+"\x00")) && bytes.Contains(body, []byte("\x00pgtaskd ")) {
			hung <- struct{}{}
			select {
			case <-free:
			case <-t.Context().Done():
			}
		}
		return proxy.Pass
	})
	c.opens()
	for i := range 8 {
		c.asks(c.alice, withstood, `"group"`, "'g"+string(rune('0'+i))+"'", "timeout", "'300 ms'")
	}
	c.asks(c.bob, withstood, `"group"`, "'bob'", "timeout", "'300 ms'")
	select {
	case <-hung:
	case <-time.After(2 * patient):
		t.Fatal("nobody logs in to end a session")
	}
	for _, role := range []string{c.bob, c.alice} {
		began := time.Now()
		c.becomes(c.asks(role, "SELECT 1", `"group"`, "'others'"), "DONE")
		if took := time.Since(began); took > servertest.Limit(2*time.Second) {
			t.Errorf("a task had to wait %s", took)
		}
	}
	c.eventually("0", active, c.bob)
	c.eventually("9", "SELECT count(*) FROM task WHERE state = 'FAIL' AND sqlstate = '57014'")
	if n := len(hung); n > 3 {
		t.Errorf("%d more logins", n)
	}
	if c.get(active, c.alice) == "0" {
		t.Error("no session is left before anybody has logged in")
	}
	close(free)
	c.eventually("0", active, c.alice)
}
