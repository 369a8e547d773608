package inbox

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/exec/text"
	"pgtaskd/work/run"
)

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
	found, _ := ask(ctx, b, func(m *Mail, answer chan<- run.Answer) { m.questions = append(m.questions, question{put, answer}) })
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
