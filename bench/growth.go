package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"
)

// grow measures the sweeps that are wanted, draws each and prints its points.
func (s *stand) grow(ctx context.Context) error {
	for _, w := range sweeps(s.largest) {
		if !s.only.MatchString(w.name) {
			continue
		}
		points, err := w.measure(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		if err := draw(filepath.Join(s.growth, w.name+".svg"), w.axis, points); err != nil {
			return err
		}
		if err := s.showPoints(w.axis, points); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(s.out, "\n%s\n", s.machine(ctx))
	return err
}

func (w sweep) measure(ctx context.Context, s *stand) (points []point, err error) {
	if s, err = w.begin(ctx, s); err != nil {
		return nil, err
	}
	expected := 1000.0
	for _, step := range w.steps {
		rates := make([]float64, s.rounds)
		var sum cost
		for round := range rates {
			fmt.Fprintf(s.progress, "round %d of %d: %s %s\n", round+1, s.rounds, grouped(step), w.name)
			if expected, err = w.rate(ctx, s, step, expected); err != nil {
				return nil, err
			}
			rates[round] = expected
			sum.program += s.cost.program
			sum.server += s.cost.server
		}
		rounds := time.Duration(s.rounds)
		mean := cost{program: sum.program / rounds, server: sum.server / rounds}
		points = append(points, point{step, slices.Min(rates), middle(rates), slices.Max(rates), mean})
	}
	return points, nil
}

// showPoints writes a line a step, in Markdown.
func (s *stand) showPoints(axis string, points []point) error {
	w := tabwriter.NewWriter(s.out, 0, 0, 1, ' ', 0)
	fmt.Fprintf(w, "\n| %s\t| tasks/s\t| spread\t| µs a task: pgtaskd\t| server\t| cores busy\t|\n| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t|\n", axis)
	for _, p := range points {
		busy := p.middle * p.cost.sum().Seconds()
		fmt.Fprintf(w, "| %s\t| %.0f\t| %.0f–%.0f\t| %d\t| %d\t| %.1f\t|\n", grouped(p.step), p.middle, p.least, p.most,
			p.cost.program.Microseconds(), p.cost.server.Microseconds(), busy)
	}
	return w.Flush()
}
