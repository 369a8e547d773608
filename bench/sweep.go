package main

import (
	"context"
	"slices"
)

// sweep is the rate of SELECT 1 against one quantity, all else being equal.
type sweep struct {
	name  string // of its plot's file
	axis  string
	steps []int // at which it is measured, in rising order
	// begin returns the stand on which the sweep is measured.
	begin func(ctx context.Context, s *stand) (*stand, error)
	// rate measures once; expected is the rate to begin with.
	rate func(ctx context.Context, s *stand, step int, expected float64) (float64, error)
}

// sweeps are all there are, each with the steps up to the largest, and two at least.
func sweeps(largest int) []sweep {
	all := []sweep{
		{
			name: "sessions", axis: "sessions (run), one lane",
			steps: []int{1, 2, 4, 8, 16, 32, 64}, begin: same, rate: againstSessions,
		},
		{
			name: "lanes", axis: "lanes of max 0, run 16",
			steps: []int{1, 3, 10, 30, 100, 300, 1000, 3000, 10_000}, begin: same, rate: againstLanes,
		},
		{
			name: "rows", axis: "finished tasks in the table, one lane of max 15, run 16",
			steps: []int{1000, 10_000, 100_000, 1_000_000, 10_000_000}, begin: apart("rows"), rate: againstRows,
		},
		{
			name: "targets", axis: "targets, run 16 in all, at least 1 each",
			steps: []int{1, 2, 5, 10, 20, 50, 100, 200}, begin: apart("many"), rate: againstTargets,
		},
	}
	for i, w := range all {
		end, _ := slices.BinarySearch(w.steps, largest+1)
		all[i].steps = w.steps[:max(end, 2)]
	}
	return all
}

func same(_ context.Context, s *stand) (*stand, error) { return s, nil }

func apart(database string) func(context.Context, *stand) (*stand, error) {
	return func(ctx context.Context, s *stand) (*stand, error) { return s.another(ctx, database) }
}

func againstSessions(ctx context.Context, s *stand, step int, expected float64) (float64, error) {
	b := oneLane
	b.run, b.max = step, step-1
	return b.rate(ctx, s, expected)
}

func againstLanes(ctx context.Context, s *stand, step int, expected float64) (float64, error) {
	b := manyLanes
	b.lanes = step
	return b.rate(ctx, s, expected)
}

// againstRows measures beside rows that are made, but for those that earlier measurements have
// left, if they are few.
func againstRows(ctx context.Context, s *stand, step int, expected float64) (float64, error) {
	var count int
	if err := s.db.conn.QueryRow(ctx, "SELECT count(*) FROM task").Scan(&count); err != nil {
		return 0, err
	}
	if count > step+step/10 {
		if err := s.db.execute(ctx, text("empty.sql")); err != nil {
			return 0, err
		}
		count = 0
	}
	if _, err := s.db.add(ctx, "finished.sql", max(0, step-count), 1); err != nil {
		return 0, err
	}
	if err := s.db.settle(ctx); err != nil {
		return 0, err
	}
	return oneLane.rate(ctx, s, expected)
}
