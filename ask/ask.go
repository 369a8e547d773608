package ask

import (
	"context"
	"errors"
	"fmt"

	"pgtaskd/work"
)

// ErrFailed is returned when all there is to say has been written.
var ErrFailed = errors.New("failed")

// each asks one target after the other. Faults are remarks, and the rest goes on.
func each(ctx context.Context, s *Screen, targets []work.Target, command string, do func(*table) error) error {
	failed := false
	for _, t := range targets {
		err := one(ctx, t, command, reads, do)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			s.Remark("pgtaskd: %s: %s", t.Name(), err)
			failed = true
		}
	}
	if failed {
		return ErrFailed
	}
	return nil
}

// one asks a target.
func one(ctx context.Context, t work.Target, command string, purpose use, do func(*table) error) error {
	b, err := open(ctx, t, command, purpose)
	if err != nil {
		return err
	}
	defer b.close()
	return do(b)
}

// the only target there is to ask.
func only(targets []work.Target) (work.Target, error) {
	if len(targets) == 1 {
		return targets[0], nil
	}
	names := ""
	for _, t := range targets {
		names += "\n  " + t.Name()
	}
	return work.Target{}, fmt.Errorf("there are several targets: choose one with --target:%s", names)
}
