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

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

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

	least  *int64        // lowest id; nil: any
	within time.Duration // how long one statement looks for tasks; 0: progressAfter
}

// List lists tasks, newest first.
func List(ctx context.Context, s *Screen, targets []work.Target, f Filter) error {
	for i, state := range f.States {
		f.States[i] = strings.ToUpper(state)
		if !slices.Contains(rows.States, f.States[i]) {
			return fmt.Errorf("there is no state %q: the states are %s", state, strings.Join(rows.States, ", "))
		}
	}
	failed := false
	for _, t := range targets {
		err := one(ctx, t, "ls", rows.Reads, func(b *table) error {
			if len(targets) > 1 && s.Objects == nil {
				if err := s.Line("%s", s.cut(t.Name())); err != nil {
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
	lines := [][]string{{"ID", "STATE", "GROUP", "KEY", "PLAN", "TOOK", "TEXT"}}
	err := b.walk(ctx, s, f, func(t Task) error {
		if s.Objects != nil {
			return s.Object(t)
		}
		lines = append(lines, []string{fmt.Sprint(t.ID), t.state(), t.Group, cmp.Or(t.Key, "-"), brief(t.Plan), t.took(), t.says()})
		if len(lines) > pageLength {
			defer func() { lines = lines[:1] }()
			return s.Table(lines, listNarrow...)
		}
		return nil
	})
	if s.Objects == nil && len(lines) > 1 {
		err = errors.Join(err, s.Table(lines, listNarrow...))
	}
	return err
}

// listNarrow are the columns of a list that become narrower: the text, the plan up to its minutes,
// and the names.
var listNarrow = []narrowed{{6, 20}, {4, 17}, {3, 8}, {2, 8}, {6, 8}}

// pageLength is how many tasks one statement of a list finds at most, and how many lines are written
// at once, with headings.
const pageLength = 1000

// progressAfter is how long a command works before it shows its progress.
const progressAfter = 2 * time.Second

// walk calls see for each task that passes the filter, newest first.
func (b *table) walk(ctx context.Context, s *Screen, f Filter, see func(Task) error) error {
	filter := rows.Filter{States: f.States, Group: f.Group, Key: f.Key}
	words := map[string]string{":page_since": "greatest(t.created, t.start, t.stop)"}
	if prefix, is := strings.CutSuffix(f.Group, "%"); is {
		filter.Group, words[":page_group"] = prefix, `"left"(t."group", length($2::text))`
	}
	if f.Since != "" {
		moment, err := b.moment(ctx, f.Since, -1)
		if err != nil {
			return fmt.Errorf("--since: %w", err)
		}
		filter.Since = pgtype.Timestamptz{Time: moment, Valid: true}
	}
	var w rows.Walk
	err := b.look(ctx, func() (err error) { w, err = b.Walk(ctx, &filter, rows.Newest); return err })
	if f.least != nil {
		w.Least = max(w.Least, *f.least)
	}
	left := f.Most
	if left <= 0 {
		left = math.MaxInt64
	}
	defer s.Clear()
	for more := true; more && err == nil; {
		most := int(min(left, pageLength))
		var found []Task
		err = b.look(ctx, func() (err error) {
			list, _ := w.Query(ctx, b.Table, "ask/list", words, cmp.Or(f.within, progressAfter), most) // collect returns its error
			found, err = b.collect(list)
			return err
		})
		more = len(found) == most && left > pageLength
		for _, t := range found {
			if t.late {
				if t.ID == w.Greatest {
					return rows.ErrSlow
				}
				s.Progress(fmt.Sprintf("%s: looked at tasks down to id %d", b.Target.Name(), t.ID))
				w.Greatest, more = t.ID, true
				break
			}
			if err := see(t); err != nil {
				return err
			}
			w = w.After(rows.Newest, &rows.Place{ID: t.ID})
			left--
		}
	}
	return err
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
