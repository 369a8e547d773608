package main

import (
	"context"
	"fmt"
	"time"
)

// planned is the delay from a task's plan to its start, on an otherwise idle table.
type planned struct {
	name     string
	bar, aim float64 // of the 99th percentile in milliseconds
}

func (p planned) title() string { return p.name }

func (p planned) measure(ctx context.Context, s *stand) ([]figure, error) {
	if err := s.empty(ctx); err != nil {
		return nil, err
	}
	var last int64
	err := s.serve(ctx, 0, func(ctx context.Context, p *process) (err error) {
		if err := s.db.first(ctx); err != nil {
			return err
		}
		if last, err = s.db.last(ctx); err != nil {
			return err
		}
		return s.metered(ctx, p, s.samples, func() error {
			if _, err := s.db.conn.Exec(ctx, text("planned.sql"), s.samples); err != nil {
				return err
			}
			return s.db.awaitEnd(ctx, last)
		})
	})
	if err != nil {
		return nil, err
	}
	var p99 time.Duration
	var early int
	if err := s.db.conn.QueryRow(ctx, text("punctual.sql"), last).Scan(&p99, &early); err != nil {
		return nil, err
	}
	if early > 0 {
		return nil, fmt.Errorf("%d of %d tasks started before the moment for which they were planned", early, s.samples)
	}
	return []figure{{name: p.name + ", p99", value: milliseconds(p99), unit: "ms", bar: p.bar, aim: p.aim, cost: s.cost}}, nil
}
