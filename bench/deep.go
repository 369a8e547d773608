package main

import (
	"context"
	"fmt"
	"time"

	"pgtaskd/bench/proc"
	"pgtaskd/human"
)

// deep measures a long backlog: its rate compared with that of a short one in as many lanes, the
// time until its first task starts, and the memory.
type deep struct {
	short, long int // tasks that are due
	lanes       int
	wide        int // run while the memory is measured
	rate, start figure
	memory      figure

	stand *stand // nil: not made yet
}

func (d *deep) title() string {
	return fmt.Sprintf("SELECT 1, %s due in %s lanes", grouped(d.long), grouped(d.lanes))
}

func (d *deep) measure(ctx context.Context, s *stand) ([]figure, error) {
	b := backlog{input: "SELECT 1", output: "1", lanes: d.lanes, run: sessions}
	took, err := b.serve(ctx, s, d.short)
	if err != nil {
		return nil, err
	}
	shortCost := s.cost
	if d.stand == nil {
		if d.stand, err = s.another(ctx, "deep"); err != nil {
			return nil, err
		}
	}
	rate, start, _, err := d.serve(ctx, sessions)
	if err != nil {
		return nil, err
	}
	d.rate.name, d.rate.value, d.rate.peer = d.title(), rate, float64(d.short)/took.Seconds()
	d.rate.cost, d.rate.peerCost = d.stand.cost, shortCost
	d.start.name, d.start.value, d.start.unit = fmt.Sprintf("start of the controller to first task, %s due",
		grouped(d.long)), start.Seconds(), "s"
	figures := []figure{d.rate, d.start}
	if proc.Shown() {
		if _, _, d.memory.value, err = d.serve(ctx, d.wide); err != nil {
			return nil, err
		}
		d.memory.name, d.memory.unit = fmt.Sprintf("memory, %s due, run %d", grouped(d.long), d.wide), "MB"
		figures = append(figures, d.memory)
	}
	return figures, nil
}

// serve lets a controller serve a part of the backlog. It returns the rate, the time from the
// controller's start to the first task's, and the most memory that the controller used.
func (d *deep) serve(ctx context.Context, run int) (rate float64, start time.Duration, memory float64, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, runLimit, fmt.Errorf("nothing was served within %s", human.Duration(runLimit)))
	defer cancel()
	if err := d.fill(ctx); err != nil {
		return 0, 0, 0, err
	}
	s := d.stand
	var began, seen time.Time
	var first int64
	var good int
	if err := s.db.conn.QueryRow(ctx, text("before.sql")).Scan(&began, &first); err != nil {
		return 0, 0, 0, err
	}
	err = s.serve(ctx, run, func(ctx context.Context, p *process) error {
		before, err := s.read(ctx, p)
		if err != nil {
			return err
		}
		if err := s.db.await(ctx, "SELECT state <> 'PLAN' FROM task WHERE id = $1", first); err != nil {
			return err
		}
		for wait := s.atLeast; good == 0; wait = tick {
			if err := pause(ctx, wait); err != nil {
				return err
			}
			if err := s.db.conn.QueryRow(ctx, text("ends.sql"), began, "1").Scan(&good, &seen); err != nil {
				return err
			}
		}
		after, err := s.read(ctx, p)
		if err != nil || !proc.Shown() {
			return err
		}
		s.cost = after.per(before, good)
		memory, err = proc.Memory(p.pid, "VmHWM")
		return err
	})
	if err != nil {
		return 0, 0, 0, err
	}
	var took time.Duration
	var bad int
	if err := s.db.conn.QueryRow(ctx, text("served.sql"), began, "1", seen).Scan(&bad, &took, &start); err != nil {
		return 0, 0, 0, err
	}
	if good == 0 || bad > 0 {
		return 0, 0, 0, fmt.Errorf("%d tasks ended as they should, %d did not", good, bad)
	}
	return float64(good) / took.Seconds(), start, memory, s.showStatements(ctx)
}

// fill inserts tasks until as many wait as a long backlog has.
func (d *deep) fill(ctx context.Context) error {
	db := d.stand.db
	var waiting int
	if err := db.conn.QueryRow(ctx, "SELECT count(*) FROM task WHERE state = 'PLAN'").Scan(&waiting); err != nil {
		return err
	}
	fmt.Fprintf(d.stand.progress, "making %s tasks\n", grouped(d.long-waiting))
	if _, err := db.add(ctx, "due.sql", d.long-waiting, d.lanes); err != nil {
		return err
	}
	if err := db.settle(ctx); err != nil {
		return err
	}
	return d.stand.resetStatements(ctx)
}
