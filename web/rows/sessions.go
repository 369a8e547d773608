package rows

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/routine"
	"pgtaskd/work"
	"pgtaskd/work/control"
)

const (
	sessionsMost = 2 // on each server
	keptFor      = time.Minute
	dialLimit    = time.Second
	headDial     = 3 * time.Second  // the same for heads: a slow server gets its sessions from them
	downFor      = 15 * time.Second // how long pages leave a server alone that did not answer
	lockLimit    = "800ms"          // below that of any statement, so that the error tells which it was
)

// Sessions keeps the sessions to all servers.
type Sessions struct {
	crew *routine.Group

	madeAt atomic.Pointer[time.Time] // when a session last made something beside a table: all look again

	mu      sync.Mutex
	servers map[string]*server
	heads   heads
}

// server has the sessions to one server.
type server struct {
	slots chan struct{} // one for each session in use
	head  chan struct{} // for the one of them that reads heads
	idle  []*session    // longest idle first

	down   error     // why the server did not answer last time; nil: it did
	downAt time.Time // when that was
}

// session is one connection, to one database under one role.
type session struct {
	target   work.Target // one of those that it can be used for
	conn     *pgx.Conn
	admitted map[string]*Table // by table, those that the door has let in
	since    time.Time         // idle since
}

// New returns Sessions without any. Close ends them.
func New() *Sessions {
	s := &Sessions{crew: routine.New(context.Background()), servers: map[string]*server{}, heads: heads{known: map[string]*known{}}}
	s.crew.Go(s.sweep)
	return s
}

// Close closes all sessions. Nobody may use s any more.
func (s *Sessions) Close() {
	s.crew.End()
	s.crew.Wait()
	s.closeIdle(0)
}

// sweep closes sessions that nobody has used for a while.
func (s *Sessions) sweep() {
	tick := time.NewTicker(keptFor / 10)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.closeIdle(keptFor)
			s.heads.forget(keptFor)
		case <-s.crew.Context().Done():
			return
		}
	}
}

func (s *Sessions) closeIdle(age time.Duration) {
	s.mu.Lock()
	var old []*session
	for _, at := range s.servers {
		for len(at.idle) > 0 && time.Since(at.idle[0].since) >= age {
			old = append(old, at.idle[0])
			at.idle = at.idle[1:]
		}
	}
	s.mu.Unlock()
	for _, one := range old {
		control.HangUp(one.conn)
	}
}

// Read calls do with a target's table in a read-only transaction. Each statement may take as long
// as limit; so may the wait for a session. All errors can be shown to people.
func (s *Sessions) Read(ctx context.Context, t work.Target, limit time.Duration, do func(context.Context, *Table) error) error {
	return s.within(ctx, t, limit, dialLimit, pgx.ReadOnly, do)
}

// Change is Read in a transaction that can write.
func (s *Sessions) Change(ctx context.Context, t work.Target, limit time.Duration, do func(context.Context, *Table) error) error {
	return s.within(ctx, t, limit, dialLimit, pgx.ReadWrite, do)
}

func (s *Sessions) within(ctx context.Context, t work.Target, limit, dial time.Duration, access pgx.TxAccessMode, do func(context.Context, *Table) error) error {
	at := s.server(t)
	patience, cancel := context.WithTimeout(ctx, max(limit, time.Second))
	defer cancel()
	select {
	case at.slots <- struct{}{}:
	case <-patience.Done():
		return cmp.Or(ctx.Err(), errBusy)
	}
	defer func() { <-at.slots }()
	for {
		one, err := s.session(ctx, at, t, dial)
		if err != nil {
			return err
		}
		idle, began := !one.since.IsZero(), false
		err = one.transaction(ctx, t, limit, access, s.madeAt.Load(), func(ctx context.Context, b *Table) error {
			began = true
			return do(ctx, b)
		})
		if b := one.admitted[t.Name()]; b != nil && b.admitted.IsZero() { // something beside it was made
			now := time.Now()
			s.madeAt.Store(&now)
		}
		s.giveBack(at, one)
		if ended := idle && !began && one.conn.IsClosed(); !ended || ctx.Err() != nil {
			return err
		}
		// The server has ended the session while it was idle: try the next one.
	}
}

// server returns the server of a target.
func (s *Sessions) server(t work.Target) *server {
	name := fmt.Sprintf("%q %q", cmp.Or(t.Connect["hostaddr"], t.Connect["host"], t.Connect["service"]), t.Connect["port"])
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.servers[name] == nil {
		s.servers[name] = &server{slots: make(chan struct{}, sessionsMost), head: make(chan struct{}, 1)}
	}
	return s.servers[name]
}

// session returns an idle session that fits the target, or opens one. The caller has a slot. If
// that would be a session too many, it closes the one that has been idle longest.
func (s *Sessions) session(ctx context.Context, at *server, t work.Target, dial time.Duration) (*session, error) {
	s.mu.Lock()
	fits := func(one *session) bool {
		return reflect.DeepEqual(one.target.Connect, t.Connect) && !one.conn.IsClosed()
	}
	i := len(at.idle) - 1
	for i >= 0 && !fits(at.idle[i]) {
		i--
	}
	if i >= 0 {
		one := at.idle[i]
		at.idle = slices.Delete(at.idle, i, i+1)
		s.mu.Unlock()
		return one, nil
	}
	var excess *session
	if len(at.slots)+len(at.idle) > sessionsMost {
		excess, at.idle = at.idle[0], at.idle[1:]
	}
	s.mu.Unlock()
	if excess != nil {
		excess.end()
	}
	conn, err := s.dial(ctx, at, t, dial)
	if err != nil {
		return nil, fmt.Errorf("cannot connect: %w", err)
	}
	return &session{target: t, conn: conn, admitted: map[string]*Table{}}, nil
}

// end closes a session and waits until its backend has ended, so that there are never three.
func (one *session) end() {
	raw := one.conn.PgConn().Conn()
	_ = raw.SetDeadline(time.Now().Add(time.Second))
	if _, err := raw.Write([]byte{'X', 0, 0, 0, 4}); err == nil { // the protocol's Terminate
		_, _ = io.Copy(io.Discard, raw) // its end is the backend's
	}
	control.HangUp(one.conn)
}

// dial opens a connection. If the server did not answer lately, it fails at once: only heads try it
// again, since nobody waits long for these.
func (s *Sessions) dial(ctx context.Context, at *server, t work.Target, limit time.Duration) (*pgx.Conn, error) {
	s.mu.Lock()
	down, since, wait := at.down, at.downAt, downFor
	s.mu.Unlock()
	if limit == headDial {
		wait = headFailed / 2 // others of this server may have tried just now
	}
	if down != nil && time.Since(since) < wait {
		return nil, down
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	conn, err := control.Dial(limited, t, "pgtaskd-page")
	var answer *pgconn.PgError
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil || errors.As(err, &answer):
		at.down = nil
	case ctx.Err() == nil && time.Since(began) > limit/2: // somebody waited for long
		at.down, at.downAt = err, time.Now()
	}
	return conn, err
}

func (s *Sessions) giveBack(at *server, one *session) {
	if one.conn.IsClosed() {
		return
	}
	one.since = time.Now()
	s.mu.Lock()
	at.idle = append(at.idle, one)
	s.mu.Unlock()
}

// transaction calls do inside a transaction. It admits the table first, if it has not done so
// lately.
func (one *session) transaction(
	ctx context.Context, t work.Target, limit time.Duration, access pgx.TxAccessMode, madeAt *time.Time, do func(context.Context, *Table) error,
) error {
	b := one.admitted[t.Name()]
	if b == nil || time.Since(b.admitted) > keptFor || madeAt != nil && b.admitted.Before(*madeAt) || !slices.Equal(b.Target.Trust, t.Trust) {
		var err error
		if b, err = Admit(ctx, one.conn, t, Reads); err != nil {
			return err
		}
		one.admitted[t.Name()] = b
	}
	return pgx.BeginTxFunc(ctx, one.conn, pgx.TxOptions{AccessMode: access}, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true)", control.Milliseconds(limit), lockLimit)
		if err != nil {
			return err
		}
		b.tx = tx
		return do(ctx, b)
	})
}
