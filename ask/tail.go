package ask

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/human"
	"pgtaskd/routine"
	"pgtaskd/web/rows"
	"pgtaskd/work"
	"pgtaskd/work/install"
)

const (
	tailTick  = 500 * time.Millisecond // between two looks
	tailRetry = time.Second            // between two tries to connect
	watched   = 2_000                  // limit of the tasks that are watched, and of those that one look finds
)

// Tail shows starts and ends of tasks until ctx ends. After a lost connection it reconnects, and
// shows the tasks that have ended meanwhile.
func Tail(ctx context.Context, s *Screen, targets []work.Target) error {
	crew := routine.New(ctx)
	defer crew.Wait()
	failures := make([]error, len(targets))
	for i, t := range targets {
		w := &tail{s: s, target: t, several: len(targets) > 1}
		crew.Go(func() {
			if failures[i] = w.follow(crew.Context()); failures[i] != nil {
				s.Remark("pgtaskd: %s: %s", t.Name(), failures[i])
			}
		})
	}
	crew.Wait()
	if ctx.Err() == nil && slices.ContainsFunc(failures, func(err error) bool { return err != nil }) {
		return ErrFailed
	}
	return nil
}

// starts are the tasks that wait or run, with the start of their run; "": they wait.
type starts map[int64]string

// tail watches a target. It belongs to one goroutine.
type tail struct {
	s       *Screen
	target  work.Target
	several bool   // lines begin with the target's name
	newest  int64  // the greatest id that was read
	known   starts // at the last look; nil before the first
	crowded bool   // the user knows that there are too many
}

// follow looks repeatedly. It fails if it cannot connect at first, if the table is refused, or if
// the server reports an error. After a lost connection it reconnects.
func (w *tail) follow(ctx context.Context) error {
	for lost := false; ; {
		b, err := open(ctx, w.target, "tail", rows.Reads)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			if lost {
				w.s.Remark("%s: connected again", w.target.Name())
			}
			lost = true
			err = w.watch(ctx, b)
			b.close()
			if ctx.Err() != nil {
				return nil
			}
			if !b.lost(err) {
				return err
			}
			w.s.Remark("%s: the connection is lost: %s; trying again", w.target.Name(), err)
		} else if !lost || errors.As(err, &rows.Refusal{}) || install.IsRefused(err) {
			return err
		}
		if !pause(ctx, tailRetry) {
			return nil
		}
	}
}

// pause waits, and reports whether ctx still goes on.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func (w *tail) watch(ctx context.Context, b *table) error {
	for {
		if err := w.look(ctx, b); err != nil {
			return err
		}
		if !pause(ctx, tailTick) {
			return nil
		}
	}
}

// look shows the events since the last look.
func (w *tail) look(ctx context.Context, b *table) error {
	var events []Event
	err := b.look(ctx, func() (err error) {
		events, err = w.news(ctx, b)
		return err
	})
	if err != nil {
		return err
	}
	return w.write(events)
}

// news finds the tasks that wait or run now, rows.Reads those that have changed since the last look, and
// returns their events.
func (w *tail) news(ctx context.Context, b *table) ([]Event, error) {
	if w.known == nil {
		if err := b.conn.QueryRow(ctx, b.queries.Text("newest")).Scan(&w.newest); err != nil {
			return nil, err
		}
		w.known = starts{}
	}
	now, err := w.due(ctx, b)
	if err == nil {
		err = w.newer(ctx, b, now)
	}
	if err != nil {
		return nil, err
	}
	if len(now) >= watched && !w.crowded {
		w.crowded = true
		w.s.Remark("%s: more than %d tasks are due: only those that have waited longest are watched", w.target.Name(), watched)
	}
	var events []Event
	if ids := changed(w.known, now); len(ids) > 0 {
		list, _ := b.conn.Query(ctx, b.queries.Text("named"), ids) // collect returns its error
		tasks, err := b.collect(list)
		if err != nil {
			return nil, err
		}
		events = w.events(now, ids, tasks)
	}
	w.known = now
	return events, nil
}

// due returns the tasks that wait or run now.
func (w *tail) due(ctx context.Context, b *table) (starts, error) {
	rows, err := b.conn.Query(ctx, b.queries.Text("due"), watched)
	if err != nil {
		return nil, err
	}
	now := starts{}
	var id int64
	var runs bool
	var start string
	_, err = pgx.ForEachRow(rows, []any{&id, &runs, &start}, func() error {
		if !runs {
			start = ""
		}
		now[id] = human.ISO(start)
		return nil
	})
	return now, err
}

// newer finds the new tasks. It adds them to known, as if they had waited at the last look, and
// those that have not ended to now.
func (w *tail) newer(ctx context.Context, b *table, now starts) error {
	rows, err := b.conn.Query(ctx, b.queries.Text("newer"), w.newest, watched)
	if err != nil {
		return err
	}
	var id int64
	var over bool
	_, err = pgx.ForEachRow(rows, []any{&id, &over}, func() error {
		w.newest = id
		if _, seen := w.known[id]; !seen {
			w.known[id] = ""
		}
		if _, seen := now[id]; !seen && !over {
			now[id] = "" // inserted after the query of due, or planned for later
		}
		return nil
	})
	return err
}

// changed returns the tasks that have started since the last look, or no longer wait or run.
func changed(known, now starts) (ids []int64) {
	for id, start := range now {
		if start != "" && start != known[id] {
			ids = append(ids, id)
		}
	}
	for id := range known {
		if _, open := now[id]; !open {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// events returns the events of changed tasks in the order of time, and corrects now by their rows.
func (w *tail) events(now starts, ids []int64, rows []Task) (events []Event) {
	found := map[int64]bool{}
	for _, t := range rows {
		found[t.ID] = true
		known := w.known[t.ID]
		_, open := now[t.ID]
		switch {
		case t.State == "WORK":
			if t.Start != known {
				events = append(events, Event{"start", t})
			}
			now[t.ID] = t.Start
		case t.Stop != "":
			events = append(events, Event{"end", t})
			delete(now, t.ID)
		case open: // it has changed since the query of due: the next look shows that
		case t.State == "STOP" && known != "":
			now[t.ID] = known // it is being cancelled
		case t.State == "PLAN" && t.Attempt > 0 && t.Error != "":
			events = append(events, Event{"retry", t})
		}
	}
	slices.SortStableFunc(events, func(a, b Event) int { return strings.Compare(a.at(), b.at()) })
	for _, id := range ids {
		if !found[id] {
			events = append(events, Event{"deleted", Task{Target: w.target.Name(), ID: id}})
			delete(now, id)
		}
	}
	return events
}

func (w *tail) write(events []Event) error {
	for _, e := range events {
		if w.s.Objects != nil {
			if err := w.s.Object(e); err != nil {
				return err
			}
			continue
		}
		for i, line := range e.lines() {
			if w.several {
				line = w.target.Name() + ": " + line
			}
			if i == 0 { // the others are the whole error, and the notices
				line = w.s.cut(w.s.Visible(line))
			}
			if err := w.s.Line("%s", line); err != nil {
				return err
			}
		}
	}
	return nil
}
