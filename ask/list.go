package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/web/rows"
	"pgtaskd/work"
)

// Filter selects the tasks of a list; an empty field selects all.
type Filter struct {
	States []string // in capitals
	Group  string   // a name that ends in % means all groups that begin so
	Key    string
	Since  string // inserted, started or ended since; a moment, or how long ago
	Most   int64  // tasks of each target; 0: all

	least int64 // lowest id
}

// States are the states of a task.
var States = []string{"PLAN", "TAKE", "WORK", "DONE", "FAIL", "GONE", "STOP"}

// stretch is how many rows one statement of a list reads at most.
const stretch = 20_000

// fewWaiting: up to so many tasks that wait or run, a list of these states reads only them.
const fewWaiting = 5_000

// List lists tasks, newest first.
func List(ctx context.Context, s *Screen, targets []work.Target, f Filter) error {
	for i, state := range f.States {
		f.States[i] = strings.ToUpper(state)
		if !slices.Contains(States, f.States[i]) {
			return fmt.Errorf("there is no state %q: the states are %s", state, strings.Join(States, ", "))
		}
	}
	f.least = math.MinInt64
	failed := false
	for _, t := range targets {
		err := one(ctx, t, "ls", rows.Reads, func(b *table) error {
			if len(targets) > 1 && s.Objects == nil {
				if err := s.Line("%s", t.Name()); err != nil {
					return err
				}
			}
			return b.list(ctx, s, f)
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			s.Remark("pgtaskd: %s: %s", t.Name(), err)
			failed = true
		}
	}
	if failed {
		return ErrFailed
	}
	return nil
}

func (b *table) list(ctx context.Context, s *Screen, f Filter) error {
	rows := [][]string{{"ID", "STATE", "GROUP", "KEY", "PLAN", "TOOK", "TEXT"}}
	err := b.walk(ctx, s, f, func(t Task) error {
		if s.Objects != nil {
			return s.Object(t)
		}
		rows = append(rows, []string{fmt.Sprint(t.ID), t.state(), t.Group, cmp.Or(t.Key, "-"), brief(t.Plan), t.took(), t.says()})
		if len(rows) > pageLength {
			defer func() { rows = rows[:1] }()
			return s.Table(rows)
		}
		return nil
	})
	if s.Objects == nil && len(rows) > 1 {
		err = errors.Join(err, s.Table(rows))
	}
	return err
}

// pageLength is how many lines of a long list are written at once, with headings.
const pageLength = 1000

// progressAfter is how long a command works before it shows its progress.
const progressAfter = 2 * time.Second

// walk calls see for each task that passes the filter, newest first.
func (b *table) walk(ctx context.Context, s *Screen, f Filter, see func(Task) error) error {
	filter, err := b.filter(ctx, f)
	if err != nil {
		return err
	}
	most := f.Most
	if most <= 0 {
		most = math.MaxInt64
	}
	found, all, err := b.waiting(ctx, f.States, append(slices.Clone(filter), most, fewWaiting))
	if all || err != nil {
		return errors.Join(err, seeAll(found, see))
	}
	began, looked := time.Now(), 0
	defer s.Clear()
	for upto := int64(math.MaxInt64); ; {
		from, last := f.least, false
		err := b.look(ctx, func() error {
			err := b.conn.QueryRow(ctx, b.queries.Text("stretch"), upto, stretch).Scan(&from)
			if err != nil && !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
			last = from <= f.least // without a row, from is still f.least
			found, err = b.tasks(ctx, "list", append(slices.Clone(filter), max(from, f.least), upto, most)...)
			return err
		})
		if err == nil {
			err = seeAll(found, see)
		}
		most, looked = most-int64(len(found)), looked+stretch
		if err != nil || last || most == 0 {
			return err
		}
		if time.Since(began) > progressAfter {
			s.Progress(fmt.Sprintf("%s: %d tasks looked at, down to id %d", b.Target.Name(), looked, from))
		}
		upto = from - 1
	}
}

func seeAll(tasks []Task, see func(Task) error) error {
	for _, t := range tasks {
		if err := see(t); err != nil {
			return err
		}
	}
	return nil
}

// filter returns the first parameters of a list: states, group, key, since.
func (b *table) filter(ctx context.Context, f Filter) ([]any, error) {
	filter := []any{nil, optional(f.Group), optional(f.Key), nil}
	if len(f.States) > 0 {
		filter[0] = f.States
	}
	if f.Since != "" {
		moment, err := b.moment(ctx, f.Since, -1)
		if err != nil {
			return nil, fmt.Errorf("--since: %w", err)
		}
		filter[3] = moment
	}
	return filter, nil
}

func optional(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// waiting finds the tasks by the index on due, if only tasks that wait or run are wanted and there
// are few. all reports whether it did so.
func (b *table) waiting(ctx context.Context, states []string, args []any) (found []Task, all bool, err error) {
	ended := func(state string) bool { return !slices.Contains([]string{"PLAN", "TAKE", "WORK"}, state) }
	if len(states) == 0 || slices.ContainsFunc(states, ended) {
		return nil, false, nil
	}
	err = b.look(ctx, func() error {
		var n, least int64
		err := b.conn.QueryRow(ctx, b.queries.Text("waiting"), fewWaiting+1).Scan(&n, &least)
		if all = n <= fewWaiting; err == nil && all {
			found, err = b.tasks(ctx, "list_waiting", args...)
		}
		return err
	})
	return found, all, err
}

// moment reads a moment that the server understands, or a span of time before (-1) or after (1)
// now.
func (b *table) moment(ctx context.Context, text string, sign float64) (moment time.Time, err error) {
	query := b.queries.Text("since")
	err = b.conn.QueryRow(ctx, query, text, nil, sign).Scan(&moment)
	if !unreadable(err) {
		return moment, err
	}
	err = b.conn.QueryRow(ctx, query, nil, text, sign).Scan(&moment)
	if unreadable(err) {
		return moment, fmt.Errorf(`%q is no moment and no span of time; try "2 hours", or "2030-01-31 08:00"`, text)
	}
	return moment, err
}

// unreadable reports whether the server could not read a value.
func unreadable(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && len(answer.Code) == 5 && answer.Code[:3] == "220"
}
