//go:build slow

package work

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"

	"pgtaskd/remote"
	"pgtaskd/server/proxy"
)

// TestSessionThatAFirewallForgotIsNoInterruption: the session looks alive until something is sent.
func TestSessionThatAFirewallForgotIsNoInterruption(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		input  string
		rerun  bool
		remote bool
	}{
		{"INSERT INTO effect VALUES (1)", true, false},
		{"INSERT INTO effect VALUES (1)", false, false},
		{"BEGIN; INSERT INTO effect VALUES (1); COMMIT", false, false},
		{"INSERT INTO effect VALUES (1)", false, true},
	} {
		var armed atomic.Bool
		elsewhere := prepared(t)
		elsewhere.exec("CREATE TABLE effect (id int8)")
		dsn := firewalled(t, &armed, elsewhere.dsn)
		var away *string
		s := elsewhere
		if c.remote {
			away, s = &dsn, play(t)
		} else {
			settings, err := remote.Parse(dsn)
			if err != nil {
				t.Fatal(err)
			}
			s.target.Connect = settings
			s.serve()
			s.settled()
		}
		s.becomes(s.add("input, remote", "SELECT 1", away), "DONE")
		if c.rerun { // else the session is asked at once
			elsewhere.eventually("true", "SELECT min(clock_timestamp() - state_change) > '1.2 s' AND count(*) > 0 "+sessions)
		}
		elsewhere.eventually("idle", "SELECT min(state) "+sessions)
		armed.Store(true)
		s.meets(c.input, c.rerun, away)
	}
}

// firewalled returns a way to the database that forgets the sessions of tasks once it is armed: the
// next message on one of them meets a reset.
func firewalled(t *testing.T, armed *atomic.Bool, dsn string) string {
	t.Helper()
	p := throughProxy(t)
	var known sync.Map // numbers of their connections
	p.Watch(func(conn int, fromClient bool, kind byte, body []byte) proxy.Verdict {
		if kind == proxy.Startup && bytes.Contains(body, []byte("pg_task ")) && !armed.Load() {
			known.Store(conn, true)
		}
		if _, forgotten := known.Load(conn); forgotten && armed.Load() && fromClient {
			return proxy.Cut
		}
		return proxy.Pass
	})
	return p.DSN(dsn)
}
