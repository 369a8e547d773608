package inbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/exec/text"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
)

// Enrol waits until the loop has registered one of our backends, on that control session. Any
// goroutine may call it.
func (b *Inbox) Enrol(ctx context.Context, opened pool.Backend, leader int32) error {
	err, answered := ask(ctx, b, func(answer chan<- error) { b.sessions = append(b.sessions, session{opened, leader, answer}) })
	if !answered {
		return errors.Join(ctx.Err(), pool.ErrNotLeading)
	}
	return err
}

// Enlist registers the sessions that wait for it, and at once those that a new register lacks. When
// the server refuses that, their tasks wait. The loop calls it.
func (b *Inbox) Enlist(ctx context.Context) error {
	var opened []pool.Backend
	b.sessions = slices.DeleteFunc(b.sessions, func(s session) bool {
		old := s.leader != 0 && s.leader != b.Control.Facts().PID // of what was read before we came to lead again
		if old {
			s.answer <- pool.ErrNotLeading
		} else {
			opened = append(opened, s.backend)
		}
		return old
	})
	err := b.Register(ctx, opened)
	if err != nil {
		if !fault.Of(err).OfRow() {
			return err
		}
		err = fmt.Errorf("register the session: %w", err)
	}
	for _, s := range b.sessions {
		s.answer <- err
	}
	b.sessions = nil
	return nil
}

// Text waits for a text of the task's row, as it was read, or as the session pid was marked in it.
func (b *Inbox) Text(ctx context.Context, t *run.Task, pid int32, which run.Text) run.Answer {
	row := []any{t.Row.ID, int32(t.Row.Version), pid}
	return b.question(ctx, func(ctx context.Context, found *run.Answer) error {
		if which != run.LongNames {
			return b.Control.Row(ctx, "text", append(row, which == run.LongData, b.Longest), &found.Text)
		}
		s := &run.Sizes{}
		found.Sizes = s
		return b.Control.Row(ctx, "names", row, &s.Group, &s.Names[0], &s.Remote, &s.Names[1], &s.Null, &s.Names[2], &s.Input, &s.Data)
	})
}

// Leads waits until the loop knows that it leads.
func (b *Inbox) Leads(ctx context.Context) bool {
	return b.question(ctx, func(ctx context.Context, _ *run.Answer) error { return b.Control.Ping(ctx) }).OK
}

func (b *Inbox) question(ctx context.Context, put func(context.Context, *run.Answer) error) run.Answer {
	found, _ := ask(ctx, b, func(answer chan<- run.Answer) { b.questions = append(b.questions, question{put, answer}) })
	return found
}

// Answer puts the questions that runners wait on to the server. The loop calls it.
func (b *Inbox) Answer(ctx context.Context) error {
	for len(b.questions) > 0 {
		q := b.questions[0]
		found, err := q.ask(ctx)
		if err != nil {
			return err
		}
		q.answer <- found
		b.questions = b.questions[1:]
	}
	return nil
}

// ask asks the server. A text that cannot be read is no error.
func (q question) ask(ctx context.Context) (found run.Answer, err error) {
	err = q.put(ctx, &found)
	if fault.Of(err) == fault.Outdated {
		err = q.put(ctx, &found)
	}
	failure := new(pgconn.PgError)
	switch {
	case err == nil:
		found.OK = true
		return found, nil
	case err == pgx.ErrNoRows:
		return run.Answer{}, nil
	case fault.Of(err).OfRow() && errors.As(err, &failure) && !fault.Of(failure).OfLocks():
		return run.Answer{OK: true, Refused: text.NewFailure(failure.Message, failure.Code)}, nil
	}
	return run.Answer{}, err
}
