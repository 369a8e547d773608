//go:build slow

package attack

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// held returns the advisory locks of the database, as the arguments that take them.
func (s *scene) held() []string {
	s.Helper()
	keys := s.get(s.safe, `SELECT string_agg(DISTINCT CASE objsubid WHEN 1 THEN ((classid::int8 << 32) | objid::int8)::text ELSE ((classid::int8 + 2147483648) % 4294967296 - 2147483648)::text || ', ' || ((objid::int8 + 2147483648) % 4294967296 - 2147483648)::text END, ';')
		FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	return strings.FieldsFunc(keys, func(r rune) bool { return r == ';' })
}

// hold takes locks as the attacker as soon as they are free, each in its own session, until
// giveBack is called or the test ends.
func (s *scene) hold(function string, keys []string) (giveBack func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	var asking sync.WaitGroup
	holders := make([]*pgx.Conn, len(keys))
	for i, key := range keys {
		holders[i] = s.as("$m")
		asking.Go(func() {
			_, _ = holders[i].PgConn().Exec(ctx, fmt.Sprintf("SELECT pg_catalog.%s(%s)", function, key)).ReadAll()
		})
	}
	giveBack = func() {
		cancel()
		asking.Wait()
		for _, holder := range holders {
			_ = holder.Close(context.WithoutCancel(ctx))
		}
	}
	s.Cleanup(giveBack)
	waiting := "SELECT count(*) FROM pg_locks AS l JOIN pg_stat_activity USING (pid) WHERE l.locktype = 'advisory' AND usename = '" + s.roles["$m"] + "'"
	if !servertest.Comes(patience, func() bool { return s.get(s.safe, waiting) == fmt.Sprint(len(keys)) }) {
		s.Fatal("the attacker does not ask for the locks")
	}
	return giveBack
}

// TestLocksOfAStranger: a role that may only CONNECT takes the locks of pgtaskd as soon as pgtaskd
// is gone. pgtaskd names the holder, and serves the tables when the locks are free.
func TestLocksOfAStranger(t *testing.T) {
	t.Parallel()
	for _, function := range []string{"pg_advisory_lock", "pg_advisory_lock_shared"} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.print(attack{})
			s.configure(nil)
			p := run(t, "--config", s.config)
			s.serve(attack{}, p, "at the first start")
			keys := s.held()
			if len(keys) == 0 {
				t.Fatal("no lock is held")
			}
			giveBack := s.hold(function, keys)
			s.use(attack{}, p, "when the attacker waits for the locks", 0)
			p.stop(t)
			p = run(t, "--config", s.config)
			s.named(p)
			giveBack()
			s.serve(attack{}, p, "when the locks are free")
			p.stop(t)
		})
	}
}

// named checks that the log names the holder of our locks, with process and role.
func (s *scene) named(p program) {
	s.Helper()
	_, said := p.says(s.logged(s.targets[0]), 0, servedIn, func(l line) bool { return l.bad() && strings.Contains(l.String(), s.roles["$m"]) })
	if !said && len(s.held()) > 0 {
		s.Errorf("who holds the locks is not named: %v", p.lines(s.logged(s.targets[0]), 0))
	}
}

// TestLocksAtTheFirstStart: the attacker holds all locks that pgtaskd takes when it starts for the
// first time, and gives them back after a while.
func TestLocksAtTheFirstStart(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.choose(attack{tables: "public.task own.task low.task"})
	s.configure(nil)
	p := run(t, "--config", s.config)
	s.serve(attack{}, p, "at the first start")
	keys := s.held() // they are computed from names, so they will be the same
	p.stop(t)
	s.exec(s.safe, "DROP TABLE $t CASCADE")
	giveBack := s.hold("pg_advisory_lock", append(keys, installing(s)...))
	p = run(t, "--config", s.config)
	for _, target := range s.targets { // until it has met the locks and logged that, or goes on without them
		p.says(s.logged(target), 0, servedIn, func(l line) bool { return leading(l) || l.bad() || strings.Contains(l.Message, "stand") })
	}
	giveBack()
	s.serve(attack{}, p, "after the locks were given back")
	p.stop(t)
}

// installing returns the locks for making tables. pgtaskd holds them only for a moment, so held
// does not see them.
func installing(s *scene) (keys []string) {
	seen := map[string]bool{}
	for _, t := range s.targets {
		sum := sha256.Sum256([]byte("pgtaskd schema " + t.schema))
		key := fmt.Sprint(int64(binary.BigEndian.Uint64(sum[:8])))
		if !seen[key] {
			keys = append(keys, key)
		}
		seen[key] = true
	}
	return keys
}
