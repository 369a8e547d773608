package work

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// What one claim takes at most, and how long a text may be that comes with it, in bytes: so a claim stays under some megabytes.
const (
	claimMost  = 500
	claimText  = 8 << 10
	claimTimes = 3 // claims in a round of the loop

	claimNoText = -1
)

// claim takes the tasks that may start, and some that soon may: by so few statements that the ends that are to be written do not wait for long, and so many that
// sessions have more to go on with than they end meanwhile.
func (l *loop) claim(ctx context.Context) error {
	for range claimTimes {
		if l.clogged() {
			return nil
		}
		ids := l.lanes.choose(claimMost)
		if err := l.claimChosen(ctx, ids); err != nil || len(ids) < claimMost {
			return err
		}
		l.dispatch()
	}
	return nil
}

// claimChosen takes what was chosen: together, or where the table refuses that, what it does not refuse.
func (l *loop) claimChosen(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	var tasks []*task
	err := l.each(ctx, ids, func(ctx context.Context, ids []int64) error {
		some, err := l.take(ctx, ids, 0)
		tasks = append(tasks, some...)
		return err
	})
	if err != nil {
		ids = nil
	}
	l.took(ids, tasks)
	return err
}

// took takes note of the tasks that a claim has brought, of those that were chosen for it.
func (l *loop) took(chosen []int64, tasks []*task) {
	for _, t := range tasks {
		l.tasks[t.row.ID] = t
		delete(l.parked, t.row.ID)
	}
	l.lanes.take(tasks)
	if len(tasks) < len(chosen) {
		l.park(chosen)
	}
}

// clogged tells that so many ends could not be written that we must not make more of them.
func (l *loop) clogged() bool {
	if l.scribe.writes() { // those that are as usual wait for it
		return len(l.unsaid) > 4*l.live.Load().Run+2*turnMost
	}
	return len(l.unsaid) > 4*l.live.Load().Run
}

// parked is a task that could not be taken: its row has changed, is locked, or silently not updated by a trigger. It is looked at again
// after a while.
type parked struct {
	until time.Time // by our clock
	wait  time.Duration
}

// park puts off those of the tasks that were not taken.
func (l *loop) park(ids []int64) {
	for _, id := range ids {
		if l.tasks[id] != nil || l.isHopeless(id) {
			continue
		}
		p := l.parked[id]
		p.wait = min(max(2*p.wait, checkTick), time.Second)
		p.until = time.Now().Add(p.wait)
		l.parked[id] = p
	}
}

// take takes the tasks with these ids, or, where there are none (nil), the one that is due alone.
// Where one of them has a text that the server cannot send, all leave their texts behind: its own
// fails it when it starts.
func (l *loop) take(ctx context.Context, ids []int64, ahead time.Duration) ([]*task, error) {
	tasks, err := l.takeWith(ctx, ids, ahead, claimText)
	if isUnsendable(err) {
		return l.takeWith(ctx, ids, ahead, claimNoText)
	}
	return tasks, err
}

// isUnsendable tells the errors of a character that either encoding does not have.
func isUnsendable(err error) bool { return hasState(err, "22P05", "22021") }

func (l *loop) takeWith(ctx context.Context, ids []int64, ahead time.Duration, text int) ([]*task, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	rows, err := l.control.conn.Query(ctx, l.queries().Text("claim"), ids, text, ahead, text == claimNoText)
	if err != nil {
		return nil, err
	}
	tasks, err := l.readTaken(rows)
	if err != nil {
		return nil, err // not committed, whatever has come
	}
	l.look.spoke = time.Now()
	if len(tasks) > 0 {
		l.inZone(ctx, tasks[0].row.Epoch)
	}
	return tasks, nil
}

func (l *loop) readTaken(rows pgx.Rows) (tasks []*task, err error) {
	var r row
	var timeout, live int64
	var delimiter, escape, quote byte
	var null, group, remote *string
	var foreign, ours bool
	var before *task // many have the same input
	_, err = pgx.ForEachRow(rows, []any{
		&r.ID, &ours, &r.Group, &r.Remote, &r.Max, &r.Priority, &r.Parent, &r.Plan, &r.Attempt, &timeout, &live, &r.Count, &r.Save, &r.Drift,
		&r.Format.Header, &r.Format.String, &delimiter, &escape, &quote, &null, &r.Rerun, &r.Single, &r.Suspect, &r.Input, &r.Data, &r.Epoch, &foreign, &group, &remote,
	}, func() error {
		if !ours {
			return nil
		}
		r.Timeout, r.Live = micros(timeout), micros(live)
		r.Format.Delimiter, r.Format.Escape, r.Format.Quote = delimiter, escape, quote
		r.Format.Null = ""
		if null != nil {
			r.Format.Null = *null
		}
		lane := laneOf(r.Group, r.Remote)
		if isBehind(r.Group) && group != nil {
			r.Group = *group
		}
		if isBehind(r.Remote) && remote != nil {
			r.Remote = *remote
		}
		if r.Input == nil || r.Data == nil || null == nil || isBehind(r.Group) || isBehind(r.Remote) {
			r.Input, r.Data = nil, nil // all come together
		}
		t := &task{
			row: r, lane: lane, rank: rank{r.ID, r.Max, r.Priority},
			again: l.begun[r.ID].runs, atomic: r.Remote == "", shows: l.shown(r.Group),
		}
		t.row.Suspect = r.Suspect || l.begun[r.ID].crossed >= crossedAlone
		t.owner.Store(l.control.pid)
		if before != nil && before.row.Input != nil && r.Input != nil && *before.row.Input == *r.Input {
			t.row.Input = before.row.Input
			before.examine()
			t.described(before.traits)
		}
		before, tasks = t, append(tasks, t)
		return nil
	})
	if len(tasks) > 0 {
		l.foreign.Store(foreign)
	}
	now := time.Now()
	for _, t := range tasks {
		t.taken = now
	}
	return tasks, err
}

// micros is a time of so many microseconds, bounded to what a time.Duration holds.
func micros(n int64) time.Duration {
	const most = 1<<63 - 1
	if n > most/int64(time.Microsecond) {
		return most
	}
	return time.Duration(n) * time.Microsecond
}
