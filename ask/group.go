package ask

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
	"pgtaskd/work"
)

// Pausing is the result of pausing or resuming a group.
type Pausing struct {
	Target string `json:"target"`
	Group  string `json:"group"` // one that ends in % stands for all that begin so
	Paused bool   `json:"paused"`
	Until  string `json:"until,omitempty"` // of the pause
	Done   bool   `json:"done"`
	Text   string `json:"text"`
}

// Pause lets nothing of the groups start any more. Until is a moment, or how long from now; empty:
// until somebody resumes them. A note that is empty changes none.
func Pause(ctx context.Context, s *Screen, targets []work.Target, groups []string, until, note string) error {
	var moment *time.Time
	return regroup(ctx, s, targets, groups, "pause", func(b *table) error {
		if until == "" {
			return nil
		}
		at, err := b.moment(ctx, until, 1)
		if err != nil {
			return fmt.Errorf("--until: %w", err)
		}
		moment = &at
		return nil
	}, func(b *table, p *Pausing) error {
		var told *string
		if note != "" {
			told = &note
		}
		if err := b.conn.QueryRow(ctx, b.queries.Text("pause"), p.Group, moment, told).Scan(&p.Until); err != nil {
			return err
		}
		p.Paused, p.Done, p.Text = true, true, "is paused"
		if p.Until != "" {
			p.Text += " until " + p.Until
			p.Until = iso(p.Until)
		}
		return nil
	})
}

// Resume ends the pauses of groups.
func Resume(ctx context.Context, s *Screen, targets []work.Target, groups []string) error {
	return regroup(ctx, s, targets, groups, "resume", func(*table) error { return nil }, func(b *table, p *Pausing) error {
		var others []string
		if err := b.conn.QueryRow(ctx, b.queries.Text("resume"), p.Group).Scan(&p.Done, &others); err != nil {
			return err
		}
		if p.Text = "is resumed"; !p.Done {
			p.Text = "is not paused by a row of its own"
		}
		if p.Paused = len(others) > 0; p.Paused {
			p.Text += "; it is still paused by " + strings.Join(others, ", ")
		}
		return nil
	})
}

// regroup changes one group after the other, each in a transaction of its own.
func regroup(ctx context.Context, s *Screen, targets []work.Target, groups []string, command string, begin func(*table) error, change func(*table, *Pausing) error) error {
	t, err := only(targets)
	if err != nil {
		return err
	}
	failed := false
	err = one(ctx, t, command, changesGroups, func(b *table) error {
		if err := begin(b); err != nil {
			return err
		}
		for _, group := range groups {
			p := Pausing{Target: t.Name(), Group: group}
			err := b.look(ctx, func() error { return change(b, &p) })
			var answer *pgconn.PgError
			if errors.As(err, &answer) && !b.lost(err) {
				p.Text = "cannot be changed: " + answer.Message
			} else if err != nil {
				return err
			}
			failed = failed || !p.Done
			if err := s.pausing(p); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && failed {
		return ErrFailed
	}
	return err
}

// pausing writes the result for a group.
func (s *Screen) pausing(p Pausing) error {
	switch {
	case s.Objects != nil:
		return s.Object(p)
	case p.Done:
		return s.Line("%s %s", p.Group, p.Text)
	}
	s.Remark("%s %s", p.Group, p.Text)
	return nil
}

// grouped is an error where there is no table of groups.
func (b *table) grouped() error {
	if !b.groups {
		return fmt.Errorf("there is no table %s: pgtaskd run makes it, and its log says what is in the way", sql.Beside(b.name, "group"))
	}
	return nil
}
