package work

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/lane"
	"pgtaskd/work/target"
)

// find takes note of the tasks that a scan has brought, and returns how many there were, and those
// that are not worth running any more. There may be a million: so it reads the server's bytes as
// they are.
func (l *loop) find(s *place, rows pgx.Rows) (found int, expired []expiring, err error) {
	odd := len(l.tasks)+l.holds.Len() > 0 // of tasks that would not count
	var due []byte
	for rows.Next() {
		found++
		v := rows.RawValues()
		r := lane.Rank{ID: integer(v[0]), Max: int32(integer(v[3])), Priority: int32(integer(v[4]))}
		s.id = r.ID
		due = append(due[:0], v[5]...)
		over := v[6]
		underWay := over != nil && integer(over) < 0
		if odd && !underWay && l.holds.IsStuck(r.ID) {
			l.holds.Forget(r.ID) // it was left alone for good, but somebody has changed its state
		}
		switch {
		case underWay:
			l.judge.Orphans.Adopt(r.ID, lane.KeyOf(string(v[1]), string(v[2])))
		case odd && l.holds.Waits(r.ID):
		case odd && l.tasks[r.ID] != nil: // it is read already, or runs
			l.tasks[r.ID].Due = l.runs.Clock.Now()
		case over != nil && !l.outlives(string(v[1]), micros(integer(over))):
			expired = append(expired, expiring{r.ID, string(v[1]), micros(integer(over))})
		case l.runs.Lanes.Limits.Holds(v[1]): // many may wait for the end of a pause: they are looked for when it has come
			s.held++
		default:
			l.runs.Lanes.Add(v[1], v[2], r)
			s.taken++
		}
	}
	if err := rows.Err(); err != nil || found == 0 {
		return found, expired, err
	}
	return found, expired, l.control.Conn().TypeMap().Scan(pgtype.TimestamptzOID, pgx.BinaryFormatCode, due, &s.plan)
}

// integer reads what the server has sent in binary form, of whatever size the user's column is;
// NULL is 0.
func integer(b []byte) int64 {
	switch len(b) {
	case 8:
		return int64(binary.BigEndian.Uint64(b))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	}
	return 0
}

// expiring is a task whose active has passed since its plan.
type expiring struct {
	id     int64
	group  string // what tells it from others, as lane.KeyOf takes it
	active time.Duration
}

// expired are those of the tasks that no pause has held back. The limits of groups are read again
// first, since a task may be newer than those that are known; where that cannot be done now, the
// next look at all that is due finds the tasks again.
func (l *loop) expired(ctx context.Context, found []expiring) (ids []int64, err error) {
	if len(found) > 0 && l.control.Table().Group != 0 {
		if err := l.readGroups(ctx); err != nil {
			return nil, err
		}
		if time.Since(l.grouping.failed) < groupsRetry {
			return nil, nil
		}
	}
	for _, t := range found {
		if !l.outlives(t.group, t.active) {
			ids = append(ids, t.id)
		}
	}
	return ids, nil
}

// expire gives up tasks that have not started in time: some, as there may be a million, and each may
// have much that follows.
func (l *loop) expire(ctx context.Context) error {
	for began := time.Now(); len(l.overdue) > 0 && time.Since(began) < hold.Turn; {
		some := l.overdue[:min(len(l.overdue), hold.Batch)]
		left, err := l.changes.EachWithWords(ctx, some, func(ctx context.Context, some []int64, mute bool) error {
			gone, err := l.changes.Tasks(ctx, "expire", some, mute)
			if err == nil {
				l.counted(gone)
				l.stats.Skips(target.Expired, change.Repeating(gone))
				l.changes.PutOffOthers(some, gone)
			}
			return err
		})
		if l.overdue = append(l.overdue[len(some):], left...); err != nil {
			return err
		}
	}
	return nil
}

func (l *loop) nextExpire() time.Duration {
	if len(l.overdue) == 0 {
		return never
	}
	return 0
}
