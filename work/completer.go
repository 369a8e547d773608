package work

import (
	"context"
	"errors"
	"slices"
	"time"

	"pgtaskd/sql"
)

// completer writes ends of tasks on a connection of its own, while the loop takes other tasks on
// the control connection: where tasks are short, either alone keeps a connection busy. What it may
// write is told by the rows, as for the loop: each must be as it was read. It is the loop's; the
// connection is that of the goroutine that writes, while it does.
type completer struct {
	conn   *control // nil: there is none
	ends   []end    // that are being written
	told   chan written
	cancel context.CancelFunc // of that
	used   time.Time
	failed time.Time
	pause  time.Duration // from that to the next try
}

// written is what has become of ends that were given to the completer.
type written struct {
	turned map[int64]bool
	empty  []int64
	err    error
}

// errUnheard is that of a completer that panics.
var errUnheard = errors.New("no answer to what was written")

const (
	completerFrom  = 200             // ends that are to be written at once, for which it is worth while
	completerIdle  = beat            // how long the connection is kept without work; the server would end it after silenceLimit
	completerAgain = 5 * time.Second // from a failure to the next try; doubling, up to completerShort
	completerShort = 5 * time.Minute // from a shortage of sessions, of which it would be one
)

// writes tells whether the completer is at work.
func (s *completer) writes() bool { return s.ends != nil }

// waits tells whether an end is the completer's to write, when it has written those that it is at.
func (l *loop) waits(e *end) bool { return l.completer.writes() && e.plain() }

// allWait tells whether nothing is left to the loop.
func (l *loop) allWait() bool {
	for i := range l.unsaid {
		if !l.waits(&l.unsaid[i]) {
			return false
		}
	}
	return true
}

// dictate gives the completer, which is idle, ends to be written; false when the loop is to write
// them.
func (l *loop) dictate(ends []end) bool {
	s := &l.completer
	switch {
	case l.Pool.Short():
		s.failed, s.pause = time.Now(), completerShort
		return false
	case len(ends) < completerFrom || l.path != nil || !l.draining.IsZero() || time.Since(s.failed) < s.pause:
		return false
	}
	given := 0 // in the order in which they are
	l.unsaid = slices.DeleteFunc(l.unsaid, func(e end) bool {
		if given == len(ends) || e.task != ends[given].task {
			return false
		}
		given++
		return true
	})
	ctx, cancel := limited(l.crew.Context())
	s.ends, s.cancel = ends, cancel
	queries, encoding := l.queries(), l.encoding()
	l.crew.Go(func() {
		w := written{err: errUnheard}
		defer func() {
			s.told <- w
			l.inbox.wake()
		}()
		w = s.write(ctx, l.connectCompleter, queries, newColumns(ends, encoding))
	})
	return true
}

func (s *completer) write(ctx context.Context, connect func(context.Context) (*control, error), queries sql.Queries, ends *columns) (w written) {
	if s.conn == nil {
		if s.conn, w.err = connect(ctx); w.err != nil {
			return w
		}
	}
	w.turned, w.empty, w.err = queryTurn(ctx, s.conn.conn, queries, ends)
	if w.err != nil {
		s.conn.close()
		s.conn = nil
	}
	return w
}

// collect takes up what the completer has written, and ends its connection when it has had nothing
// to do for a while.
func (l *loop) collect(ctx context.Context) error {
	s := &l.completer
	if !s.writes() {
		if s.conn != nil && (time.Since(s.used) >= completerIdle || l.Pool.Short()) {
			idle := s.conn
			s.conn = nil
			l.crew.Go(idle.close)
		}
		return nil
	}
	select {
	case w := <-s.told:
		empty := l.learn(w)
		err := l.delete(ctx, empty)
		if err != nil {
			l.empty = append(l.empty, empty...)
		}
		return err
	default:
		return nil
	}
}

// learn takes down what the completer has written, and returns the tasks that are to be deleted.
// What it has not written is left to those who look closer.
func (l *loop) learn(w written) (empty []int64) {
	s := &l.completer
	s.cancel()
	if s.used = time.Now(); w.err != nil {
		s.failed, s.pause = s.used, min(max(2*s.pause, completerAgain), completerShort)
	} else {
		s.pause = 0
	}
	for _, e := range s.ends {
		if w.turned[e.task.Row.ID] {
			delete(l.reruns, e.task.Row.ID)
			l.ended(e, "DONE")
			l.gone(e)
			continue
		}
		e.passed = w.err == nil
		l.unsaid = append(l.unsaid, e)
	}
	s.ends = nil
	return w.empty
}

// dismissCompleter ends its connection, and what it is at: with a leadership.
func (l *loop) dismissCompleter() {
	s := &l.completer
	if s.writes() {
		s.cancel()
		l.empty = append(l.empty, l.learn(<-s.told)...)
	}
	if s.conn != nil {
		s.conn.close()
		s.conn = nil
	}
}
