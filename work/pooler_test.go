package work

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
	"pgtaskd/work/target"
)

// pooled is a stage that a proxy leads to, which shows another process id than the server while on
// holds, as poolers do.
func pooled(t *testing.T) (s *stage, p *proxy.Proxy, on *atomic.Bool) {
	t.Helper()
	s, p, on = furnished(t), throughProxy(t), &atomic.Bool{}
	s.target = targetOf(t, p.DSN(s.dsn))
	on.Store(true)
	p.Watch(func(_ int, fromClient bool, kind byte, body []byte) proxy.Verdict {
		if !fromClient && kind == 'K' && on.Load() {
			body[3]++
		}
		return proxy.Pass
	})
	return s, p, on
}

const refusesPooler = "PgBouncer or another pooler is on the way to the server: give pgtaskd a dsn that goes to the server itself " +
	"(clients that insert tasks, and remotes, may go through the pooler)"

// TestTheTargetIsBehindAPooler: it is refused in one line, and served once the way is direct.
func TestTheTargetIsBehindAPooler(t *testing.T) {
	t.Parallel()
	s, _, on := pooled(t)
	if report := Check(t.Context(), s.target); strings.Join(report.Faults, "\n") != refusesPooler {
		t.Errorf("check: %q", report.Faults)
	}
	s.target.Changes = target.NewChanges()
	s.serve()
	s.says("target failed", refusesPooler, `"retry_in":"30 s"`)
	on.Store(false)
	s.target.Changes.Poke() // a reload looks again
	s.settled()
	if n := strings.Count(s.logged(), "pooler is"); n != 1 {
		t.Errorf("the log names it %d times: %s", n, s.logged())
	}
}

// TestPoolersThatRefuseOrAnswer: PgBouncer refuses our settings, Pgpool-II answers for the server, and
// the proxy of Neon only shows another process id.
func TestPoolersThatRefuseOrAnswer(t *testing.T) {
	t.Parallel()
	const setting, refusal = "jit\x00off", "Munrecognized configuration parameter"
	for name, c := range map[string]struct {
		change map[string]string
		want   string
	}{
		"PgBouncer": {map[string]string{setting: "jix\x00off", refusal: "Munsupported startup parameter: jix  ", "C42704": "C08P01"}, refusesPooler},
		"Pgpool-II": {map[string]string{"SHOW pool_version": "SHOW work_mem    "}, strings.Replace(refusesPooler, "PgBouncer or another pooler", "Pgpool-II", 1)},
		"Neon":      {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p, _ := pooled(t)
			if name == "Neon" {
				s.exec("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET neon.timeline_id = 1', current_database()); END $$")
			} else {
				p.Watch(func(_ int, _ bool, _ byte, body []byte) proxy.Verdict {
					for before, after := range c.change {
						if i := strings.Index(string(body), before); i >= 0 {
							copy(body[i:], after)
						}
					}
					return proxy.Pass
				})
			}
			if report := Check(t.Context(), s.target); strings.Join(report.Faults, "\n") != c.want {
				t.Errorf("%q", report.Faults)
			}
		})
	}
}

// TestAStopWhileOpening: the first connections of the target get no answer, as from a pooler whose
// server is busy. The drain ends at once, or after the grace period.
func TestAStopWhileOpening(t *testing.T) {
	t.Parallel()
	for waits := range 3 {
		t.Run(fmt.Sprint("after ", waits), func(t *testing.T) {
			t.Parallel()
			s, p, _ := pooled(t)
			s.target.Grace = 500 * time.Millisecond
			started := make(chan struct{})
			var once sync.Once
			p.Watch(func(conn int, fromClient bool, kind byte, _ []byte) proxy.Verdict {
				if fromClient && kind == proxy.Startup && conn > waits {
					once.Do(func() { close(started) })
					<-t.Context().Done() // before the proxy stops
				}
				return proxy.Pass
			})
			s.serve()
			if waits == 2 {
				s.settled()
				s.exec("INSERT INTO task (input) VALUES ('SELECT 1')")
			}
			<-started
			began := time.Now()
			s.drain()
			if took := time.Since(began); took > servertest.Limit(3*time.Second) || s.err != nil {
				t.Error(took, s.err)
			}
		})
	}
}
