package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"pgtaskd/server"
	"pgtaskd/server/proxy"
)

// faults returns the faults of the mode.
func (m mode) faults() []fault {
	switch m {
	case servers:
		return slices.Concat(faults, ofServers)
	case failover:
		return slices.Concat(faults, ofServers, ofFailover)
	}
	return faults
}

// ofServers break a remote that is another server.
var ofServers = []fault{
	{"remote: half the sessions terminated", func(ctx context.Context, s *stand, draw float64) error {
		return onBackends(ctx, s.away.do, "terminate.sql", "pg%", 2, draw)
	}},
	{"remote: a third of the sessions cancelled", func(ctx context.Context, s *stand, draw float64) error {
		return onBackends(ctx, s.away.do, "cancel.sql", "pg%", 3, draw)
	}},
	{"remote: immediate shutdown, restart", func(ctx context.Context, s *stand, _ float64) error {
		return s.away.restart(ctx, (*server.Server).Crash)
	}},
	{"remote: kill -9, restart", func(ctx context.Context, s *stand, _ float64) error {
		return s.away.restart(ctx, (*server.Server).Kill)
	}},
	{"remote: kill -9 of a backend", func(ctx context.Context, s *stand, draw float64) error {
		return s.away.killBackend(ctx, draw)
	}},
	{"remote's network: all connections cut", func(_ context.Context, s *stand, _ float64) error {
		s.away.network((*proxy.Proxy).Cut)
		return nil
	}},
	{"remote's network: stalled", func(_ context.Context, s *stand, draw float64) error {
		s.away.network(func(p *proxy.Proxy) { p.Stall(true) })
		s.repairs.later(seldomLong(draw, 15*time.Second), func() { s.away.network(func(p *proxy.Proxy) { p.Stall(false) }) })
		return nil
	}},
	{"remote's network: no new connections", func(_ context.Context, s *stand, draw float64) error {
		s.away.network(func(p *proxy.Proxy) { p.Refuse(true) })
		s.repairs.later(seldomLong(draw, 5*time.Second), func() { s.away.network(func(p *proxy.Proxy) { p.Refuse(false) }) })
		return nil
	}},
	{"remote's network: cut before a message", func(_ context.Context, s *stand, draw float64) error {
		s.away.network(func(p *proxy.Proxy) { cutAt(p, draw, proxy.Cut) })
		return nil
	}},
	{"remote's network: cut after a message", func(_ context.Context, s *stand, draw float64) error {
		s.away.network(func(p *proxy.Proxy) { cutAt(p, draw, proxy.PassThenCut) })
		return nil
	}},
	{"both servers and controllers: kill -9", func(ctx context.Context, s *stand, _ float64) error {
		var all sync.WaitGroup
		var local, remote error
		for _, end := range []func(){
			s.controllers[0].kill, s.controllers[1].kill, func() { local = s.server.Kill() }, func() { remote = s.away.nodes[0].Kill() },
		} {
			all.Go(end)
		}
		all.Wait()
		return errors.Join(local, remote, s.server.Restart(ctx), s.away.nodes[0].Restart(ctx))
	}},
}

// ofFailover break a remote that has a synchronous standby.
var ofFailover = []fault{
	{"remote's standby: immediate shutdown, restart", func(ctx context.Context, s *stand, draw float64) error {
		s.repairs.later(seldomLong(draw, 5*time.Second), func() { _ = s.away.comeBack(ctx) }) // else tasks do not end
		return s.away.leave()
	}},
	{"remote: immediate shutdown, standby promoted", func(ctx context.Context, s *stand, _ float64) error {
		return s.failOver(ctx)
	}},
}

// network does something to all ways to the remote that lead through a proxy.
func (a *away) network(do func(*proxy.Proxy)) {
	for _, p := range a.proxies {
		do(p)
	}
}
