package after

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/work/change"
	"pgtaskd/work/control"
)

// statements ask the table, and change it.
type statements struct {
	control *control.Control
	changes *change.Changer
}

// successors finds some that wait for tasks which have ended, by these: at most so many for each.
func (s *statements) successors(ctx context.Context, ids []int64, most int) (map[int64][]int64, error) {
	of := map[int64][]int64{}
	if len(ids) == 0 {
		return of, nil
	}
	var id, one int64
	err := s.control.Each(ctx, "successors", []any{ids, most}, []any{&id, &one}, func() error {
		of[id] = append(of[id], one)
		return nil
	})
	return of, err
}

// resolved is a row of resolve.sql: a successor, after a look at what it is to run after.
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

// resolve looks at what some successors are to run after, and writes what they wait for. With an
// error it returns what was written before.
func (s *statements) resolve(ctx context.Context, ids []int64) (all []resolved, err error) {
	err = s.changes.Each(ids, func(ids []int64) error {
		some, err := s.resolveTogether(ctx, ids)
		if err == nil {
			all = append(all, some...)
		}
		return err
	})
	return all, err
}

// resolveTogether does so in one transaction. Its commit does not wait for the disk: after a crash
// of the server it is found out again.
func (s *statements) resolveTogether(ctx context.Context, ids []int64) (all []resolved, err error) {
	batch := &pgx.Batch{}
	batch.Queue("BEGIN READ WRITE")
	batch.Queue("SET LOCAL synchronous_commit = off")
	s.control.Queue(batch, "resolve", ids).Query(func(rows pgx.Rows) (err error) {
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[resolved])
		if err == nil && slices.ContainsFunc(all, func(r resolved) bool { return !r.Moved }) {
			err = fault.ErrKept
		}
		return err
	})
	batch.Queue("COMMIT")
	err = s.control.Send(ctx, batch)
	return all, err
}

// reason is why a successor is given up, and what it must still wait for then, or which version of
// its row was read.
type reason struct {
	why     string
	awaits  *int64
	version *int32
}

// giveUp ends successors that are not to run. It returns those that have ended, with an error too,
// and the ids for which there was no time.
func (s *statements) giveUp(
	ctx context.Context, given map[int64]reason,
) (ended []change.Changed, left []int64, err error) {
	ids := slices.Collect(maps.Keys(given))
	left, err = s.changes.EachWithWords(ctx, ids, func(ids []int64, mute bool) error {
		errors, awaits, versions := make([]string, len(ids)), make([]*int64, len(ids)), make([]*int32, len(ids))
		for i, id := range ids {
			errors[i], awaits[i], versions[i] = given[id].why, given[id].awaits, given[id].version
		}
		some, err := s.changes.Tasks(ctx, "forsaken", ids, errors, awaits, versions, mute)
		if err == nil {
			ended = append(ended, some...)
		}
		return err
	})
	return ended, left, err
}

// waitedFor is a row of awaited.sql.
type waitedFor struct {
	id     int64
	ended  bool
	awaits *int64 // what it waits for itself
}

// awaited reads the next tasks that are waited for, with ids above that one.
func (s *statements) awaited(ctx context.Context, above int64, most int) (all []waitedFor, err error) {
	var one waitedFor
	err = s.control.Each(ctx, "awaited", []any{above, most}, []any{&one.id, &one.ended, &one.awaits}, func() error {
		all = append(all, one)
		return nil
	})
	return all, err
}

// doomed looks at the next tasks that wait, with ids above that one, and finds those that name one
// which did not end well. It has looked at n, and has come to last.
func (s *statements) doomed(
	ctx context.Context, ill []int64, above int64, most int,
) (last int64, n int, doomed []int64, err error) {
	err = s.control.Row(ctx, "doomed", []any{ill, above, most}, &last, &n, &doomed)
	return last, n, doomed, err
}
