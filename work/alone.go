package work

import (
	"context"
	"runtime"
)

// expects tells whether to try to read a task alone: there is no other that we know of, ours or not,
// and a session lies ready. A leader that is awake looks all the time.
func (l *loop) expects() bool {
	busy, waiting, ready := l.runs.Lanes.Load()
	known := busy + waiting + ready + len(l.tasks) + l.judge.Orphans.Len() + l.holds.Len()
	return known == 0 && !l.wake.Awake() && !l.scan.Active() && !l.runs.Pool.Empty()
}

// startAlone reads the task that is due alone, if there is one, and starts it. If no session suits it,
// since settings are others than when those were opened, a look comes first: writes may have been
// switched off.
func (l *loop) startAlone(ctx context.Context) (started bool, err error) {
	if !l.expects() {
		return false, nil
	}
	t, err := l.prefetch.Alone(ctx)
	if err != nil || t == nil || !l.runs.Fits(t) {
		return false, err
	}
	l.runs.Dispatch()
	runtime.Gosched() // the runner begins here and now, and need not wait for another thread to wake up: 0.035 ms
	l.scan.StartedAlone()
	return true, nil
}
