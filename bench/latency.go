package main

import (
	"context"
	"math/rand/v2"
	"time"
)

// latency is the time from the start of a task's INSERT on the server to the start of the task, on
// an otherwise idle table.
type latency struct {
	name     string
	p50, p99 figure // bars and aims, in milliseconds
}

func (l latency) title() string { return l.name }

func (l latency) measure(ctx context.Context, s *stand) ([]figure, error) {
	if err := s.empty(ctx); err != nil {
		return nil, err
	}
	if err := s.serve(ctx, 0, s.trickle); err != nil {
		return nil, err
	}
	var p50, p99 time.Duration
	if err := s.db.conn.QueryRow(ctx, text("latency.sql")).Scan(&p50, &p99); err != nil {
		return nil, err
	}
	return []figure{
		{name: l.name + ", p50", value: milliseconds(p50), bar: l.p50.bar, aim: l.p50.aim, unit: "ms", cost: s.cost},
		{name: l.name + ", p99", value: milliseconds(p99), bar: l.p99.bar, aim: l.p99.aim, unit: "ms", cost: s.cost},
	}, nil
}

// trickle inserts one task after the other. The first one does not count.
func (s *stand) trickle(ctx context.Context, p *process) error {
	if err := s.db.first(ctx); err != nil {
		return err
	}
	return s.metered(ctx, p, s.samples, func() error {
		for range s.samples {
			if err := s.db.execute(ctx, insert); err != nil {
				return err
			}
			if err := idle(ctx); err != nil {
				return err
			}
		}
		return s.db.awaitEnd(ctx, 0)
	})
}

// idle gives the controller time to finish and fall asleep. The time varies, so that it does not
// fall into step with something.
func idle(ctx context.Context) error {
	const shortest, jitter = 10 * time.Millisecond, 10 * time.Millisecond
	return pause(ctx, shortest+rand.N(jitter))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
