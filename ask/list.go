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

	"pgtaskd/work"
)

// Filter says which tasks a list has; an empty field holds for all.
type Filter struct {
	States []string // in capitals
	Group  string   // one that ends in % means all that begin so
	Key    string
	Since  string // inserted, started or ended since; a moment, or how long ago
	Most   int64  // tasks of each target; 0: all
}

// States are those that a task can have.
var States = []string{"PLAN", "TAKE", "WORK", "DONE", "FAIL", "GONE", "STOP"}

// stretch is how many rows one statement of a list reads at most.
const stretch = 20_000

// fewWaiting is up to how many tasks that wait or run are looked at instead of all.
const fewWaiting = 5_000

// List lists tasks, newest first.
func List(ctx context.Context, s *Screen, targets []work.Target, f Filter) error {
	for i, state := range f.States {
		f.States[i] = strings.ToUpper(state)
		if !slices.Contains(States, f.States[i]) {
			return fmt.Errorf("there is no state %q: the states are %s", state, strings.Join(States, ", "))
		}
	}
	return each(ctx, s, targets, "ls", func(b *table) error {
		if len(targets) > 1 && s.Objects == nil {
			if err := s.Line("%s", b.target.Name()); err != nil {
				return err
			}
		}
		return b.list(ctx, s, f)
	})
}

func (b *table) list(ctx context.Context, s *Screen, f Filter) error {
	w, err := b.walker(ctx, s, f)
	if err != nil {
		return err
	}
	rows := [][]string{{"ID", "STATE", "GROUP", "KEY", "PLAN", "TOOK", "TEXT"}}
	err = w.walk(ctx, func(t Task) error {
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

// pageLength is after how many lines a long list is written, with its headings.
const pageLength = 1000

// walker goes through a table, from the newest task to the oldest.
type walker struct {
	b      *table
	s      *Screen
	filter []any // states, group, key, since
	states []string
	most   int64 // tasks
	least  int64 // id
}

func (b *table) walker(ctx context.Context, s *Screen, f Filter) (*walker, error) {
	w := &walker{b: b, s: s, states: f.States, most: f.Most, least: math.MinInt64}
	if w.most <= 0 {
		w.most = math.MaxInt64
	}
	var since any
	if f.Since != "" {
		moment, err := b.moment(ctx, f.Since, -1)
		if err != nil {
			return nil, fmt.Errorf("--since: %w", err)
		}
		since = moment
	}
	var states any
	if len(f.States) > 0 {
		states = f.States
	}
	w.filter = []any{states, optional(f.Group), optional(f.Key), since}
	return w, nil
}

func optional(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// walk calls see for each task. It stops at the most that are wanted.
func (w *walker) walk(ctx context.Context, see func(Task) error) error {
	short, err := w.waiting(ctx, see)
	if short || err != nil {
		return err
	}
	began := time.Now()
	defer w.s.Clear()
	seen, looked := int64(0), int64(0)
	for upto := int64(math.MaxInt64); ; {
		from, last := w.least, false
		var found []Task
		err := w.b.look(ctx, func() error {
			err := w.b.conn.QueryRow(ctx, w.b.queries.Text("stretch"), upto, stretch).Scan(&from)
			if last = errors.Is(err, pgx.ErrNoRows) || from < w.least; err != nil && !last {
				return err
			}
			found, err = w.b.tasks(ctx, "list", append(slices.Clone(w.filter), max(from, w.least), upto, w.most-seen)...)
			return err
		})
		if err != nil {
			return err
		}
		for _, t := range found {
			if err := see(t); err != nil {
				return err
			}
		}
		seen, looked = seen+int64(len(found)), looked+stretch
		if last || seen >= w.most || from == math.MinInt64 {
			return nil
		}
		if time.Since(began) > progressAfter {
			w.s.Progress(fmt.Sprintf("%s: %d tasks looked at, down to id %d", w.b.target.Name(), looked, from))
		}
		upto = from - 1
	}
}

// progressAfter is how long something takes before its progress is shown.
const progressAfter = 2 * time.Second

// waiting lists tasks that wait or run by the index on due, if only those are asked for and there
// are few.
func (w *walker) waiting(ctx context.Context, see func(Task) error) (done bool, err error) {
	ended := func(state string) bool { return !slices.Contains([]string{"PLAN", "TAKE", "WORK"}, state) }
	if len(w.states) == 0 || slices.ContainsFunc(w.states, ended) {
		return false, nil
	}
	var n, least int64
	var found []Task
	err = w.b.look(ctx, func() error {
		err := w.b.conn.QueryRow(ctx, w.b.queries.Text("waiting"), fewWaiting+1).Scan(&n, &least)
		if err == nil && n <= fewWaiting {
			found, err = w.b.tasks(ctx, "list_waiting", append(slices.Clone(w.filter), w.most, fewWaiting)...)
		}
		return err
	})
	if err != nil || n > fewWaiting {
		return false, err
	}
	for _, t := range found {
		if err := see(t); err != nil {
			return true, err
		}
	}
	return true, nil
}

// moment reads a moment: a text that the server takes for one, or a span before (-1) or after (1)
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

// unreadable tells whether the server could not read a value.
func unreadable(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && len(answer.Code) == 5 && answer.Code[:3] == "220"
}
