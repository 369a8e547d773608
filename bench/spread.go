package main

import (
	"context"
	"fmt"
	"time"

	"pgtaskd/human"
)

// againstTargets measures tasks that all become visible at once, when each target is led and has
// its sessions.
func againstTargets(ctx context.Context, s *stand, step int, expected float64) (float64, error) {
	if err := s.db.install(ctx, tableNames(step)...); err != nil {
		return 0, err
	}
	run := max(1, sessions/step)
	for {
		each := max(int(expected*s.atLeast.Seconds()*1.1)/step+1, int(eachLeast*s.atLeast.Seconds()))
		took, err := s.spread(ctx, step, run, each)
		if err != nil {
			return 0, err
		}
		if expected = float64(each*step) / took.Seconds(); took >= s.atLeast {
			return expected, nil
		}
	}
}

// eachLeast is how many tasks a target has at least for each second that is to be measured: with
// few, the rate would be that of the beginning, when no profile of the tasks is known yet.
const eachLeast = 400

// spread has as many tasks of each target served, and returns the time from the first start until
// all ends are to be seen.
func (s *stand) spread(ctx context.Context, targets, run, each int) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, runLimit,
		fmt.Errorf("%d tasks of each target have not ended within %s", each, human.Duration(runLimit)))
	defer cancel()
	if _, err := s.db.conn.Exec(ctx, "SELECT spread_empty($1)", targets); err != nil {
		return 0, err
	}
	if err := s.db.execute(ctx, "CHECKPOINT"); err != nil {
		return 0, err
	}
	var seen time.Time
	err = s.serveAll(ctx, s.db.targets(targets, run), func(ctx context.Context, p *process) error {
		if err := s.db.serveEach(ctx, targets, run, run); err != nil {
			return err
		}
		if err := s.resetStatements(ctx); err != nil {
			return err
		}
		if err := s.metered(ctx, p, targets*each, func() error { return s.db.serveEach(ctx, targets, run, each) }); err != nil {
			return err
		}
		var err error
		seen, err = s.db.now(ctx)
		return err
	})
	if err != nil {
		return 0, err
	}
	var good int
	if err := s.db.conn.QueryRow(ctx, "SELECT * FROM spread_took($1, $2, $3)", targets, run, seen).Scan(&good, &took); err != nil {
		return 0, err
	}
	if good != each*targets {
		return 0, fmt.Errorf("%d of %d tasks ended as they should", good, each*targets)
	}
	return took, s.showStatements(ctx)
}

// serveEach gives each target, while it is served, so many tasks, and awaits their end.
func (d *database) serveEach(ctx context.Context, targets, run, tasks int) error {
	if _, err := d.conn.Exec(ctx, "SELECT spread($1, $2, $3)", targets, run-1, tasks); err != nil {
		return err
	}
	return d.await(ctx, "SELECT spread_ended($1)", targets)
}

// targets are the entries of the configuration for that many tables.
func (d *database) targets(count, run int) (all []map[string]any) {
	for _, table := range tableNames(count) {
		all = append(all, d.target(table, run))
	}
	return all
}

// tableNames are those of that many task tables.
func tableNames(count int) (all []string) {
	for i := range count {
		all = append(all, fmt.Sprintf("task_%d", i+1))
	}
	return all
}
