package work

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/work/lane"
	"pgtaskd/work/run"
)

// What the table refuses of many tasks, such as repetitions that meet a unique column of the user's,
// has to be tried one by one. That takes the time of a duty and no more; the others come in between.
// Ends wait aside meanwhile, where they are no reason for others not to start: some hundred. Beyond
// that a task of whose run nothing is committed goes back to PLAN, as if it had not run.

// partsMost is into how many parts rows come, about: so a thousand of which each is refused take not
// many more statements than themselves.
const partsMost = 8

// queuedMost is how many ends wait for their turn before tasks are given back, and backMost how long
// these wait at most: each for another time, and so long that their runs keep nobody waiting.
const (
	queuedMost = 500
	backMost   = 10 * time.Minute
)

// refuses takes note of whether the table has refused a change of n rows. There may be many of which
// it refuses each: so one by one they come, until it has taken several.
func (k *locks) refuses(n int, err error) {
	var answer *pgconn.PgError
	switch {
	case err == nil && k.refused > 0:
		if k.well++; k.well >= partsMost {
			if k.well, k.refused = 0, 2*k.refused; k.refused >= batchMost {
				k.refused = 0
			}
		}
	case refusedByServer(err) && !isTooMuch(err) && !isSlow(err) && errors.As(err, &answer) && !passing(answer):
		k.well, k.refused = 0, max(n/partsMost, 1)
	}
}

// queue keeps ends for which the time of a duty has not sufficed, as the table refuses many.
func (l *loop) queue(ends []end) {
	for i := range ends {
		e := &ends[i]
		if l.locks.ends.refused == 0 || e.queued || e.kind == run.Finished && e.rolledBack() && l.givesBack(e) {
			continue
		}
		e.queued = true
		l.aside.queued++
	}
	l.putOff(ends)
}

// countQueued counts those that wait for their turn, and are tried again or not yet.
func (l *loop) countQueued(ends []end) {
	l.aside.queued = 0
	for _, e := range slices.Concat(ends, l.aside.ends) {
		if e.queued {
			l.aside.queued++
		}
	}
}

// rolledBack tells that the SQL of the task has failed, and with it all that it has done here.
func (e *end) rolledBack() bool {
	return e.fault == nil && e.Result != nil && e.Result.Failure != nil && e.Result.Reason == exec.NotCancelled &&
		e.task.Row.Remote == "" && e.task.Traits != nil && e.task.Once()
}

// givesBack makes the release of a task of an end of which nothing is committed, where too many wait
// for their turn; false where not.
func (l *loop) givesBack(e *end) bool {
	if l.aside.queued < queuedMost {
		return false
	}
	e.kind, e.fault, e.delay = run.Released, e.failure(), time.Second+rand.N(backMost)
	return true
}

// takeTurns has what costs little come first, and then the ends of each lane take turns with those
// of others, and those that come first that have not waited yet.
func takeTurns(ends []end) {
	places := map[lane.Key]int{}
	for i := range ends {
		key := lane.KeyOf(ends[i].task.Row.Group, ends[i].task.Row.Remote)
		ends[i].place = places[key]
		places[key]++
	}
	slices.SortStableFunc(ends, func(a, b end) int {
		switch costs := a.kind == run.Finished; {
		case costs != (b.kind == run.Finished):
			if costs {
				return 1
			}
			return -1
		case a.place != b.place || a.queued == b.queued:
			return cmp.Compare(a.place, b.place)
		case a.queued:
			return 1
		}
		return -1
	})
}
