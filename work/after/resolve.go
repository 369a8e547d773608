package after

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/work/change"
	"pgtaskd/work/lane"
)

// resolved is a row of resolve.sql: a successor, after a look at the tasks in its after.
type resolved struct {
	ID            int64
	Awaits        *int64  // the task that it waits for
	Ill           *int64  // a task in its after that did not end well
	State         *string // of that task
	Version       *uint32 // of the successor's row; nil: the row was changed
	Group, Remote []byte
	Max, Priority int32
	Ready, Late   bool // due and not paused; there was no time to look at it
	Moved         bool // false: a trigger has kept the row as it was
}

// reason is why a successor is given up. The row must still await awaits, or have this version.
type reason struct {
	why     string
	awaits  *int64
	version *int32
}

// resolve looks at the tasks in the after of some successors. Each successor then waits for one of
// them, or is free, or is given up. seen has the successors whose rows show that now, late those
// for which there was no time.
func (s *Successors) resolve(ctx context.Context, ids []int64) (seen map[int64]bool, late []int64, err error) {
	seen = map[int64]bool{}
	ids = slices.DeleteFunc(slices.Clone(ids), s.Holds.Refuses)
	if len(ids) == 0 {
		return seen, nil, nil
	}
	var all []resolved
	err = s.Changes.Each(ids, func(ids []int64) error {
		some, err := s.resolveTogether(ctx, ids)
		if err == nil {
			all = append(all, some...)
		}
		return err
	})
	given := map[int64]reason{}
	for _, t := range all {
		switch {
		case t.Late:
			late = append(late, t.ID)
		case t.Ill != nil:
			version := int32(*t.Version)
			why := fmt.Sprintf("ERROR:  task %d, after which it was to run, has ended as %s", *t.Ill, *t.State)
			given[t.ID] = reason{why: why, version: &version}
		default:
			seen[t.ID] = true
			s.free(t)
		}
	}
	if err != nil {
		return seen, late, err
	}
	ended, left, err := s.giveUp(ctx, given)
	for _, c := range ended {
		seen[c.ID] = true
	}
	return seen, append(late, left...), err
}

// resolveTogether resolves successors in one transaction, and writes into each row the task that
// the successor waits for. The commit does not wait for the disk: after a crash they are resolved
// again.
func (s *Successors) resolveTogether(ctx context.Context, ids []int64) (all []resolved, err error) {
	batch := &pgx.Batch{}
	batch.Queue("BEGIN READ WRITE")
	batch.Queue("SET LOCAL synchronous_commit = off")
	s.Control.Queue(batch, "resolve", ids).Query(func(rows pgx.Rows) (err error) {
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[resolved])
		if err == nil && slices.ContainsFunc(all, func(r resolved) bool { return !r.Moved }) {
			err = fault.ErrKept
		}
		return err
	})
	batch.Queue("COMMIT")
	err = s.Control.Send(ctx, batch)
	return all, err
}

// free records the task that a successor waits for. If there is none, the successor may start.
func (s *Successors) free(t resolved) {
	switch {
	case t.Awaits != nil:
		s.await(*t.Awaits)
		s.Doubt() // it may have closed a cycle
	case !t.Ready: // planned for later, or paused
		s.Changes.Want()
	default:
		s.Free(t.Group, t.Remote, lane.Rank{ID: t.ID, Max: t.Max, Priority: t.Priority})
	}
}

// giveUp ends successors that must not run. It returns those that have ended (also if it returns an
// error), and the ids for which there was no time.
func (s *Successors) giveUp(
	ctx context.Context, given map[int64]reason,
) (ended []change.Changed, left []int64, err error) {
	ids := slices.Collect(maps.Keys(given))
	left, err = s.Changes.EachWithWords(ctx, ids, func(ids []int64, mute bool) error {
		errors, awaits, versions := make([]string, len(ids)), make([]*int64, len(ids)), make([]*int32, len(ids))
		for i, id := range ids {
			errors[i], awaits[i], versions[i] = given[id].why, given[id].awaits, given[id].version
		}
		some, err := s.Changes.Tasks(ctx, "forsaken", ids, errors, awaits, versions, mute)
		if err == nil {
			ended = append(ended, some...)
		}
		return err
	})
	s.Changes.Ended(ended)
	return ended, left, err
}
