package work

import (
	"fmt"
	"time"

	"pgtaskd/exec"
)

// drained tells whether a drain has come to its end, or takes too long: rows that somebody has locked are left as they are then, and
// the next controller finds them.
func (l *loop) drained() (done bool, err error) {
	switch {
	case l.look.draining.IsZero():
		return false, nil
	case !l.busy():
		l.log.Info().Msg("drained")
		return true, nil
	case time.Since(l.look.draining) > l.target.Grace+exec.Obey:
		return true, &undrained{len(l.tasks)}
	}
	return false, nil
}

// undrained is the error of a drain that took too long.
type undrained struct{ tasks int }

func (u *undrained) Error() string {
	return fmt.Sprintf("%d tasks could not be ended in time; they will be found to be interrupted", u.tasks)
}

// drain begins, and in time enforces, the end of all work.
func (l *loop) drain() {
	if l.look.draining.IsZero() {
		l.look.draining = time.Now()
		l.lanes.close()
		l.log.Info().Dur("grace", l.target.Grace).Msg("draining")
		for _, t := range append(l.lanes.forget(), l.unripe()...) {
			l.inbox.end(end{task: t, kind: released})
		}
	}
	if !l.look.cancelled && time.Since(l.look.draining) >= l.target.Grace {
		l.look.cancelled = true
		for _, t := range l.tasks {
			t.stop(exec.Drained)
		}
	}
}
