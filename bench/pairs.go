package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"pgtaskd/human"
)

// side is one of the two builds: its stand, and its last rate for each row.
type side struct {
	*stand
	seen map[string]float64
}

// compare measures the rows of rates on this build and another one in turns (A B, B A, A B …), so
// that other work on the machine affects both.
func (s *stand) compare(ctx context.Context, other controller) error {
	chosen := slices.DeleteFunc(rates(), func(r row) bool { return !s.only.MatchString(r.title()) })
	if len(chosen) == 0 {
		return fmt.Errorf("no row that two builds can be compared by matches %q", s.only)
	}
	var sides [2]side
	for i, c := range []controller{s.controller, other} {
		made, err := s.madeBy(ctx, []string{"this", "other"}[i], c)
		if err != nil {
			return err
		}
		sides[i] = side{made, map[string]float64{}}
	}
	pairs := make([][]pair, len(chosen))
	for n := range s.rounds {
		for i, row := range chosen {
			fmt.Fprintf(s.progress, "pair %d of %d: %s\n", n+1, s.rounds, row.title())
			p, err := takeTurns(ctx, sides, row.(*rate), n%2)
			if err != nil {
				return fmt.Errorf("%s: %w", row.title(), err)
			}
			pairs[i] = append(pairs[i], p)
		}
	}
	return s.showPairs(ctx, chosen, pairs)
}

// madeBy returns a stand in a new database; the controller makes its task table. s closes it.
func (s *stand) madeBy(ctx context.Context, database string, c controller) (*stand, error) {
	made, err := s.in(ctx, database)
	if err != nil {
		return nil, err
	}
	made.controller = c
	if err := made.makeTable(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", database, err)
	}
	return made, nil
}

func (s *stand) makeTable(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, runLimit,
		fmt.Errorf("the table was not made and served within %s", human.Duration(runLimit)))
	defer cancel()
	err := s.serve(ctx, 0, func(ctx context.Context, _ *process) error {
		if err := s.db.await(ctx, "SELECT to_regclass('public.task') IS NOT NULL"); err != nil {
			return err
		}
		return s.db.first(ctx)
	})
	if err != nil {
		return err
	}
	return s.setUp(ctx)
}

// takeTurns measures the row on both builds, beginning with sides[first].
func takeTurns(ctx context.Context, sides [2]side, r *rate, first int) (pair, error) {
	var samples [2]sample
	for i := range sides {
		i ^= first
		side := sides[i]
		seen, err := r.tasks.rate(ctx, side.stand, cmp.Or(side.seen[r.name], 1000))
		if err != nil {
			return pair{}, fmt.Errorf("%s: %w", side.db.name, err)
		}
		side.seen[r.name] = seen
		samples[i] = sample{seen, side.cost}
		fmt.Fprintf(side.progress, "  %-5s %6.0f/s, %.1f + %.1f µs, %.0f bytes of WAL a task\n", side.db.name, seen,
			microseconds(side.cost.program), microseconds(side.cost.server), side.cost.wal)
	}
	return pair{samples[0], samples[1]}, nil
}
