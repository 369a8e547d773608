package main

import (
	"context"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/proxy"
)

// fault is a way to break something. The draw, from 0 to 1, decides how long, at which moment, or
// what it breaks.
type fault struct {
	name   string
	strike func(ctx context.Context, s *stand, draw float64) error
}

// faults come in all modes, with equal chances.
var faults = []fault{
	{"leader: kill -9", func(_ context.Context, s *stand, draw float64) error {
		s.leader().crash(draw)
		return nil
	}},
	{"standby: kill -9", func(_ context.Context, s *stand, draw float64) error {
		s.standby().crash(draw)
		return nil
	}},
	{"leader: SIGTERM", func(_ context.Context, s *stand, _ float64) error {
		s.leader().signal(syscall.SIGTERM)
		return nil
	}},
	{"leader: SIGSTOP, then SIGCONT", func(_ context.Context, s *stand, draw float64) error {
		s.freeze(s.leader(), seldomLong(draw, 15*time.Second))
		return nil
	}},
	{"standby: SIGSTOP, then SIGCONT", func(_ context.Context, s *stand, draw float64) error {
		s.freeze(s.standby(), seldomLong(draw, 15*time.Second))
		return nil
	}},
	{"half the sessions terminated", func(ctx context.Context, s *stand, draw float64) error {
		return onBackends(ctx, s.do, "terminate.sql", "pg_task %", 2, draw)
	}},
	{"control sessions terminated", func(ctx context.Context, s *stand, draw float64) error {
		return onBackends(ctx, s.do, "terminate.sql", "pgtaskd %", 1, draw)
	}},
	{"a third of the sessions cancelled", func(ctx context.Context, s *stand, draw float64) error {
		return onBackends(ctx, s.do, "cancel.sql", "pg_task %", 3, draw)
	}},
	{"server: immediate shutdown, restart", func(ctx context.Context, s *stand, _ float64) error {
		if err := s.server.Crash(); err != nil {
			return err
		}
		return s.server.Restart(ctx)
	}},
	{"network: all connections cut", func(_ context.Context, s *stand, _ float64) error {
		s.proxy.Cut()
		return nil
	}},
	{"network: stalled", func(_ context.Context, s *stand, draw float64) error {
		s.proxy.Stall(true)
		s.repairs.later(seldomLong(draw, 15*time.Second), func() { s.proxy.Stall(false) })
		return nil
	}},
	{"network: slow", func(_ context.Context, s *stand, draw float64) error {
		s.proxy.Delay(seldomLong(draw, 100*time.Millisecond))
		s.repairs.later(3*time.Second, func() { s.proxy.Delay(0) })
		return nil
	}},
	{"network: no new connections", func(_ context.Context, s *stand, draw float64) error {
		s.proxy.Refuse(true)
		s.repairs.later(seldomLong(draw, 5*time.Second), func() { s.proxy.Refuse(false) })
		return nil
	}},
	{"network: cut before a message", func(_ context.Context, s *stand, draw float64) error {
		cutAt(s.proxy, draw, proxy.Cut)
		return nil
	}},
	{"network: cut after a message", func(_ context.Context, s *stand, draw float64) error {
		cutAt(s.proxy, draw, proxy.PassThenCut)
		return nil
	}},
}

// pick returns the fault for a draw.
func pick(all []fault, draw float64) fault { return all[int(draw*float64(len(all)))] }

// seldomLong returns a length of up to longest, mostly much shorter.
func seldomLong(draw float64, longest time.Duration) time.Duration {
	return time.Duration(draw * draw * float64(longest))
}

// longestAbsence is how long a killed controller stays away at most.
const longestAbsence = 2 * time.Second

func (c *controller) crash(draw float64) {
	c.kill()
	c.away = time.Now().Add(seldomLong(draw, longestAbsence))
}

func (s *stand) freeze(c *controller, length time.Duration) {
	c.signal(syscall.SIGSTOP)
	p := c.process
	s.repairs.later(length, func() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }) // it may have been killed
}

// onBackends runs a statement that affects one in oneIn of the backends whose application_name is
// like the pattern.
func onBackends(
	ctx context.Context, do func(context.Context, func(*pgx.Conn) error) error, statement, like string, oneIn int, draw float64,
) error {
	return do(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, text(statement), like, oneIn, int(draw*1000))
		return err
	})
}

// cutAt cuts the connection at one of the next 300 messages through a proxy.
func cutAt(p *proxy.Proxy, draw float64, verdict proxy.Verdict) {
	const within = 300
	var left atomic.Int64
	left.Store(1 + int64(draw*within))
	p.Watch(func(int, bool, byte, []byte) proxy.Verdict {
		if left.Add(-1) == 0 {
			return verdict
		}
		return proxy.Pass
	})
}
