package main

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// rate is how many tasks of a backlog end in a second, beside the transactions of pgbench.
type rate struct {
	name  string
	tasks backlog
	peer  peer
	bar   float64 // of the peer's rate

	seen float64 // what the last run came to; 0: there was none
}

func (r *rate) title() string { return r.name }

// measure repeats a run that was over too soon, with as many tasks as its rate asks for; the first is likely to be.
func (r *rate) measure(ctx context.Context, s *stand) ([]figure, error) {
	peer, err := r.peer.tps(ctx, s)
	if err != nil {
		return nil, err
	}
	for {
		count := int(cmp.Or(r.seen, peer*r.bar/4)*s.atLeast.Seconds()*1.1) + 1
		took, err := r.tasks.serve(ctx, s, count)
		if err != nil {
			return nil, err
		}
		if r.seen = float64(count) / took.Seconds(); took >= s.atLeast {
			return []figure{{name: r.name, value: r.seen, peer: peer, bar: r.bar}}, nil
		}
	}
}

// backlog is a number of equal tasks, all of them due before the controller starts.
type backlog struct {
	input, output string
	lanes, max    int
	save, remote  bool
	effects       bool // each leaves a row in effect
	run           int  // of the target; 0: its default
}

// runLimit bounds one run; one that takes longer has stalled.
const runLimit = 2 * time.Minute

// serve returns the time from the first start of a task to the last stop, as the table has them.
func (b backlog) serve(ctx context.Context, s *stand, count int) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, runLimit, fmt.Errorf("%d tasks have not ended within %s", count, runLimit))
	defer cancel()
	if err := b.fill(ctx, s, count); err != nil {
		return 0, err
	}
	err = s.serve(ctx, b.run, s.awaitEnd)
	if err != nil {
		return 0, err
	}
	if took, err = b.verify(ctx, s, count); err != nil {
		return 0, err
	}
	return took, s.showStatements(ctx)
}

// fill leaves nothing but the backlog in the table, and no checkpoint that is soon to come.
func (b backlog) fill(ctx context.Context, s *stand, count int) error {
	if _, err := s.conn.Exec(ctx, text("empty.sql")); err != nil {
		return err
	}
	var remote *string
	if b.remote {
		dsn := s.server.DSN(database)
		remote = &dsn
	}
	if _, err := s.conn.Exec(ctx, text("fill.sql"), b.input, b.lanes, b.max, b.save, remote, count); err != nil {
		return err
	}
	if _, err := s.conn.Exec(ctx, "CHECKPOINT"); err != nil {
		return err
	}
	return s.resetStatements(ctx)
}

// verify makes sure that every task has done what it had to, once, and that its row shows what users are promised.
func (b backlog) verify(ctx context.Context, s *stand, count int) (took time.Duration, err error) {
	var good, effects int
	var sample string
	err = s.conn.QueryRow(ctx, text("verify.sql"), b.output).Scan(&good, &effects, &took, &sample)
	switch {
	case err != nil:
		return 0, err
	case good != count:
		return 0, fmt.Errorf("%d of %d tasks ended as they should; another: %s", good, count, sample)
	case b.effects && effects != count:
		return 0, fmt.Errorf("%d tasks had %d effects", count, effects)
	}
	return took, nil
}

const tick = 50 * time.Millisecond

// awaitEnd returns when no task waits or runs. It looks at the newest one first, which costs the server nothing.
func (s *stand) awaitEnd(ctx context.Context) error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		var open bool
		if err := s.conn.QueryRow(ctx, text("open.sql")).Scan(&open); err != nil || !open {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
