package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"pgtaskd/human"
)

// rate is how many tasks of a backlog end in a second, compared with the transactions of pgbench:
// with one thread, which is pgbench's default, and with one for each core.
type rate struct {
	name  string
	tasks backlog
	peer  peer
	bar   float64 // part of the peer's rate
	aim   float64

	seen float64 // rate of the last run; 0: none yet
}

func (r *rate) title() string { return r.name }

func (r *rate) measure(ctx context.Context, s *stand) ([]figure, error) {
	peer, err := r.peer.tps(ctx, s, 1)
	if err != nil {
		return nil, err
	}
	figures := []figure{{name: r.name, peer: peer, bar: r.bar, aim: r.aim, peerCost: s.cost}}
	if n := threads(r.peer.clients); s.both && n > 1 {
		if peer, err = r.peer.tps(ctx, s, n); err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%s; %d threads", r.name, n)
		figures = append(figures, figure{name: name, peer: peer, bar: r.bar, aim: r.aim, peerCost: s.cost})
	}
	r.seen, err = r.tasks.rate(ctx, s, cmp.Or(r.seen, figures[0].peer*max(r.bar, r.aim)))
	for i := range figures {
		figures[i].value, figures[i].cost = r.seen, s.cost
	}
	return figures, err
}

// backlog is a number of equal tasks that are due before the controller starts.
type backlog struct {
	input, output string
	lanes, max    int
	save, remote  bool
	effects       bool // each inserts a row into effect
	run           int  // run of the target; 0: the default
}

// sessions is how many tasks run at once in the rows that measure many sessions, and how many
// clients pgbench has there.
const sessions = 16

// Backlogs that several rows measure.
var (
	oneLane   = backlog{input: "SELECT 1", output: "1", lanes: 1, max: sessions - 1, run: sessions}
	manyLanes = backlog{input: "SELECT 1", output: "1", lanes: 1000, run: sessions}
)

// runLimit bounds one run; a run that takes longer has stalled.
const runLimit = 2 * time.Minute

// rate returns how many tasks end in a second; expected is a first estimate.
func (b backlog) rate(ctx context.Context, s *stand, expected float64) (float64, error) {
	return s.longEnough(expected, func(count int) (time.Duration, error) { return b.serve(ctx, s, count) })
}

// longEnough returns the rate at which tasks are served. If a run was too short, it repeats the run
// with the number of tasks that its rate asks for; expected is a first estimate.
func (s *stand) longEnough(expected float64, serve func(count int) (time.Duration, error)) (float64, error) {
	for {
		count := int(expected*s.atLeast.Seconds()*1.1) + 1
		took, err := serve(count)
		if err != nil {
			return 0, err
		}
		if expected = float64(count) / took.Seconds(); took >= s.atLeast {
			return expected, nil
		}
	}
}

// serve returns the time from the first start of a task until the table shows all ends.
func (b backlog) serve(ctx context.Context, s *stand, count int) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, runLimit,
		fmt.Errorf("%d tasks have not ended within %s", count, human.Duration(runLimit)))
	defer cancel()
	last, err := b.fill(ctx, s, count)
	if err != nil {
		return 0, err
	}
	var seen time.Time
	err = s.serve(ctx, b.run, func(ctx context.Context, p *process) error {
		err := s.metered(ctx, p, count, func() error { return s.db.awaitEnd(ctx, last) })
		if err != nil {
			return err
		}
		seen, err = s.db.now(ctx)
		return err
	})
	if err != nil {
		return 0, err
	}
	if took, err = b.verify(ctx, s, last, count, seen); err != nil {
		return 0, err
	}
	return took, s.showStatements(ctx)
}

// fill adds the backlog to the table, which it empties first unless the rows are to be kept, and
// makes a checkpoint, so that none comes soon. It returns the last id before the backlog.
func (b backlog) fill(ctx context.Context, s *stand, count int) (last int64, err error) {
	if err := s.empty(ctx); err != nil {
		return 0, err
	}
	if last, err = s.db.last(ctx); err != nil {
		return 0, err
	}
	var remote *string
	if b.remote {
		dsn := s.db.dsn()
		remote = &dsn
	}
	if _, err := s.db.conn.Exec(ctx, text("fill.sql"), b.input, b.lanes, b.max, b.save, remote, count); err != nil {
		return 0, err
	}
	if _, err := s.db.conn.Exec(ctx, "CHECKPOINT"); err != nil {
		return 0, err
	}
	return last, s.resetStatements(ctx)
}

// verify checks that every task above the id last has had its effect once, and that its row is as
// documented. It returns how long the tasks took until their ends were seen.
func (b backlog) verify(ctx context.Context, s *stand, last int64, count int, seen time.Time) (took time.Duration, err error) {
	var good, effects int
	var sample string
	err = s.db.conn.QueryRow(ctx, text("verify.sql"), b.output, last, seen).Scan(&good, &effects, &took, &sample)
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
