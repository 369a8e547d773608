package work

import (
	"cmp"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/work/lane"
)

// What the table refuses of many tasks, such as repetitions that meet a unique column of the user's,
// has to be tried one by one. That takes the time of a duty and no more; the others come in between.
// Ends wait aside meanwhile, where they are no reason for others not to start.

// partsMost is into how many parts rows come, about: so a thousand of which each is refused take not
// many more statements than themselves.
const partsMost = 8

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
		ends[i].queued = ends[i].queued || l.locks.ends.refused > 0
	}
	l.putOff(ends)
}

// takeTurns has the ends of each lane take turns with those of others, and those that come first
// that have not waited yet.
func takeTurns(ends []end) {
	places := map[lane.Key]int{}
	for i := range ends {
		key := lane.KeyOf(ends[i].task.Row.Group, ends[i].task.Row.Remote)
		ends[i].place = places[key]
		places[key]++
	}
	slices.SortStableFunc(ends, func(a, b end) int {
		switch {
		case a.place != b.place || a.queued == b.queued:
			return cmp.Compare(a.place, b.place)
		case a.queued:
			return 1
		}
		return -1
	})
}
