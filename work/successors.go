package work

import (
	"context"
	"time"

	"pgtaskd/work/hold"
)

// A task that is to run after others waits for one of them at a time, which its row names. The loop
// knows which tasks are waited for, and when one of those ends it looks at some of its successors:
// no more of them than may start soon. What it has not heard of, it finds when it looks at all that
// is waited for (awaited.go).

const (
	endedMost   = 100         // ended tasks whose successors are looked at together
	stockMost   = 1000        // tasks that are due; where there are more, successors take their time:
	serveTick   = time.Second // from some to the next, as other lanes may have room for them
	awaitedMost = 1_000_000   // tasks that are known to be waited for
)

// successors is what is known of the tasks that wait for others.
type successors struct {
	awaited map[int64]bool // tasks that others wait for; true: it has ended, and is in the next
	ended   []int64        // tasks with successors to be looked at
	served  time.Time      // when some were looked at last
	fresh   newcomers
	survey  awaitedSurvey
}

func newSuccessors() successors {
	return successors{awaited: map[int64]bool{}, fresh: newcomers{known: map[int64]bool{}}}
}

// over takes note that a task has ended, or may have.
func (f *successors) over(id int64) {
	if _, awaited := f.awaited[id]; awaited {
		f.ends(id)
	}
}

// ends has the successors of a task looked at.
func (f *successors) ends(id int64) {
	if !f.awaited[id] {
		f.awaited[id], f.ended = true, append(f.ended, id)
	}
}

// await takes note that a task which is still to end is waited for.
func (f *successors) await(id int64) {
	if _, known := f.awaited[id]; known || len(f.awaited) < awaitedMost {
		f.awaited[id] = false
	}
}

// endedAs takes note of a task that has not ended well: who waits for others beside it need not
// wait for them.
func (f *successors) endedAs(id int64, state string) {
	if len(f.awaited) > 0 && (state == "FAIL" || state == "GONE" || state == "STOP") && len(f.survey.ill) < illMost {
		f.survey.ill, f.survey.wanted = append(f.survey.ill, id), true
	}
}

// doubt takes note that something may have ended, or wait for something else, without our doing.
func (f *successors) doubt() { f.survey.wanted = f.survey.wanted || len(f.awaited) > 0 }

// seeToSuccessors looks at new successors, at those of tasks that have ended, and from time to time
// at all that is waited for. Each step takes little time, whatever the length of after.
func (l *loop) seeToSuccessors(ctx context.Context) error {
	if l.handed || !l.draining.IsZero() {
		return nil
	}
	f := &l.successors
	if l.awaitedDue() {
		if err := l.surveyAwaited(ctx); err != nil {
			return err
		}
	}
	if l.nextServe() <= 0 {
		if err := l.serveSuccessors(ctx); err != nil {
			return err
		}
	}
	if len(f.fresh.known) > 0 {
		return l.meetNewcomers(ctx)
	}
	return nil
}

// nextSuccessors is when there is something to look at.
func (l *loop) nextSuccessors() time.Duration {
	if l.handed || !l.draining.IsZero() {
		return never
	}
	next := min(l.nextServe(), l.nextAwaited())
	if len(l.successors.fresh.known) > 0 {
		next = 0
	}
	return next
}

// nextServe is when the successors of a task that has ended may be looked at.
func (l *loop) nextServe() time.Duration {
	if len(l.successors.ended) == 0 {
		return never
	}
	_, _, ready := l.runs.Lanes.Load()
	if ready < stockMost {
		return 0
	}
	next := serveTick - time.Since(l.successors.served)
	if ready >= scanMost/2 {
		next = max(next, serveTick)
	}
	return next
}

// serveSuccessors looks at some successors of some tasks that have ended.
func (l *loop) serveSuccessors(ctx context.Context) error {
	f := &l.successors
	var some []int64
	for len(some) < endedMost && len(f.ended) > 0 {
		if id := f.ended[0]; f.awaited[id] {
			some = append(some, id)
		}
		f.ended = f.ended[1:]
	}
	most := max(hold.Batch/max(len(some), 1), 1)
	of, err := l.successorsOf(ctx, some, most)
	if err != nil {
		f.ended = append(f.ended, some...)
		return err
	}
	var all []int64
	for _, id := range some {
		all = append(all, of[id]...)
	}
	seen, late, err := l.resolve(ctx, all)
	for _, id := range some {
		served := 0
		for _, one := range of[id] {
			if seen[one] {
				served++
			}
		}
		switch {
		case !f.awaited[id]: // it runs again
		case err == nil && served == len(of[id]) && served < most:
			delete(f.awaited, id)
		case err == nil && served == 0 && len(late) == 0: // somebody has locked them: the next survey finds them again
			delete(f.awaited, id)
			f.survey.wanted = true
		default:
			f.ended = append(f.ended, id)
		}
	}
	f.served = time.Now()
	return err
}

// successorsOf are some of those who wait for tasks that have ended, by these.
func (l *loop) successorsOf(ctx context.Context, ids []int64, most int) (map[int64][]int64, error) {
	of := map[int64][]int64{}
	if len(ids) == 0 {
		return of, nil
	}
	var id, one int64
	err := l.control.Each(ctx, "successors", []any{ids, most}, []any{&id, &one}, func() error {
		of[id] = append(of[id], one)
		return nil
	})
	return of, err
}
