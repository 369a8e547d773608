package work

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/work/hold"
	"pgtaskd/work/lane"
)

// resolve looks at what some tasks are to run after: they wait for one that is still to end, or are
// free, or are given up. Returns those of which it is written, and those for which there was no
// time.
func (l *loop) resolve(ctx context.Context, ids []int64) (seen map[int64]bool, late []int64, err error) {
	seen = map[int64]bool{}
	ids = slices.DeleteFunc(slices.Clone(ids), l.holds.Refuses)
	if len(ids) == 0 {
		return seen, nil, nil
	}
	given := map[int64]givenUp{}
	err = l.changes.Each(ctx, ids, func(ctx context.Context, ids []int64) error {
		all, err := l.readResolved(ctx, ids)
		if err != nil {
			return err
		}
		for _, t := range all {
			switch {
			case t.Late:
				late = append(late, t.ID)
			case t.Ill != nil:
				version := int32(*t.Version)
				given[t.ID] = givenUp{version: &version, why: fmt.Sprintf("ERROR:  task %d, after which it was to run, has ended as %s", *t.Ill, *t.State)}
			default:
				seen[t.ID] = true
				l.free(t)
			}
		}
		return nil
	})
	if err != nil || len(given) == 0 {
		return seen, late, err
	}
	left, err := l.giveUp(ctx, given, seen)
	return seen, append(late, left...), err
}

// readResolved writes what they wait for. That need not be on the disk: after a crash of the server
// it is found out again.
func (l *loop) readResolved(ctx context.Context, ids []int64) (all []resolved, err error) {
	batch := &pgx.Batch{}
	batch.Queue("BEGIN READ WRITE")
	batch.Queue("SET LOCAL synchronous_commit = off")
	l.control.Queue(batch, "resolve", ids).Query(func(rows pgx.Rows) (err error) {
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[resolved])
		if err == nil && slices.ContainsFunc(all, func(r resolved) bool { return !r.Moved }) {
			err = fault.ErrKept
		}
		return err
	})
	batch.Queue("COMMIT")
	err = l.control.Send(ctx, batch)
	return all, err
}

// resolved is a row of resolve.sql.
type resolved struct {
	ID            int64
	Awaits        *int64 // what it waits for
	Ill           *int64 // what did not end well
	State         *string
	Version       *uint32 // of its row, unless that was changed
	Group, Remote []byte
	Max, Priority int32
	Ready, Late   bool
	Moved         bool // false: a trigger has kept its row as it was
}

// free takes note of what a successor waits for. If that is nothing it may start.
func (l *loop) free(t resolved) {
	switch {
	case t.Awaits != nil:
		l.successors.await(*t.Awaits)
		l.successors.doubt() // it may have closed a cycle
	case !t.Ready: // it is planned for later, or paused
		l.look.wanted = true
	case l.tasks[t.ID] == nil:
		l.runs.Lanes.Add(t.Group, t.Remote, lane.Rank{ID: t.ID, Max: t.Max, Priority: t.Priority})
	}
}

// freshMost is how many newcomers are known; a later look finds the others.
const freshMost = 1_000_000

// newcomers are successors of which it is still to be found out what they wait for.
type newcomers struct {
	known   map[int64]bool
	waiting []int64
}

// add takes note of a successor: a new one, one whose after was changed, or one that waits for what
// has not ended well.
func (n *newcomers) add(id int64) {
	if !n.known[id] && len(n.known) < freshMost {
		n.known[id], n.waiting = true, append(n.waiting, id)
	}
}

// meetNewcomers finds out what some newcomers wait for.
func (l *loop) meetNewcomers(ctx context.Context) error {
	n := &l.successors.fresh
	some := n.waiting[:min(len(n.waiting), hold.Batch)]
	seen, late, err := l.resolve(ctx, some)
	n.waiting = append(n.waiting[len(some):], late...)
	for _, id := range some {
		switch {
		case slices.Contains(late, id):
			continue
		case seen[id]:
			l.holds.Forget(id)
		default:
			l.park([]int64{id}) // somebody has locked it
		}
		delete(n.known, id)
	}
	return err
}
