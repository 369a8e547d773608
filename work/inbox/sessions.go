package inbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"pgtaskd/exec/fault"
	"pgtaskd/work/pool"
)

// Enrol waits until the loop has registered one of our backends, on that control session. Any
// goroutine may call it.
func (b *Inbox) Enrol(ctx context.Context, opened pool.Backend, leader int32) error {
	err, answered := ask(ctx, b, func(m *Mail, answer chan<- error) { m.sessions = append(m.sessions, session{opened, leader, answer}) })
	if !answered {
		return errors.Join(ctx.Err(), pool.ErrNotLeading)
	}
	return err
}

// Enlist registers the sessions that wait for it, and at once those that a new register lacks. When
// the server refuses that, their tasks wait. The loop calls it.
func (b *Inbox) Enlist(ctx context.Context) error {
	b.sessions = slices.DeleteFunc(b.sessions, func(s session) bool {
		old := s.leader != 0 && s.leader != b.Control.Facts().PID // of what was read before we came to lead again
		if old {
			s.decline()
		}
		return old
	})
	var opened []pool.Backend
	for _, s := range b.sessions {
		opened = append(opened, s.backend)
	}
	err := b.Register(ctx, opened)
	switch {
	case err == nil:
	case fault.Of(err).OfRow():
		err = fmt.Errorf("register the session: %w", err)
	default:
		return err
	}
	for _, s := range b.sessions {
		s.answer <- err
	}
	b.sessions = nil
	return nil
}
