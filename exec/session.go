package exec

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/routine"
)

// Session is one PostgreSQL backend connection on which tasks run, one after the other. It belongs
// to one goroutine; only Cancel and Abandon may be called from others.
//
// The way of a task: Begin sends, in one flush, the COMMIT of the task before, the settings, BEGIN,
// the input and the question what has become of its transaction; Await reads the answers to the last
// two; the next Begin, or End, commits. Where Begin has sent other tasks after it, Next does. No
// statement of ours touches the table of the tasks.
type Session struct {
	PID   uint32    // of the backend
	Since time.Time // start of the backend, by the server's clock; zero on a remote

	User      string // the role that it has logged in as
	Superuser bool   // which is one
	Reads     bool   // when it was opened, its transactions began as READ ONLY
	Foreign   bool   // when it was opened its database had foreign servers: what writes through them has no transaction id here

	// AskedForPassword tells whether the server has asked for the password. Where it did not, the
	// connection rests on who the controller is, not on what the task knows.
	AskedForPassword bool

	wire     *wire
	setup    setup
	question question
	pipeline pipeline
	cancel   canceller
	unbind   func() bool // from the end of the crew
}

// Connect opens a session, in the target's own database or elsewhere. The configuration's
// RuntimeParams are what a reset returns to. limit bounds each statement of our own on it. trusted is
// one of the serving role's, whose password is its own. The error is a *pgconn.ConnectError, a
// *pgconn.PgError or one of the network; or a *routine.Panic, if what the server says brings a panic
// about.
func Connect(ctx context.Context, cfg *pgconn.Config, limit time.Duration, local, trusted bool) (s *Session, err error) {
	err = routine.Guard(func() (err error) {
		s, err = connect(ctx, cfg, limit, local, trusted)
		return err
	})
	return s, err
}

func connect(ctx context.Context, cfg *pgconn.Config, limit time.Duration, local, trusted bool) (*Session, error) {
	w, err := dial(ctx, cfg, limit, local, trusted)
	if err != nil {
		return nil, err
	}
	s := &Session{
		PID: w.conn.PID(), Superuser: w.conn.ParameterStatus("is_superuser") == "on", AskedForPassword: w.reader.AskedForPassword(), wire: w,
		setup: setup{wire: w, state: state{known: map[string]string{}}, base: cfg.RuntimeParams, texts: []byte{}},
	}
	s.question = question{wire: w, setup: &s.setup, local: local}
	s.cancel = canceller{obey: Obey, request: w.conn.CancelRequest, cut: s.Abandon}
	s.bind(routine.New(context.Background()), func() bool { return true })
	if err := s.introduce(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Within makes what the session starts the crew's, and abandons the session when the crew ends,
// unless it is closed before.
func (s *Session) Within(crew *routine.Group) {
	s.bind(crew, crew.When(crew.Context(), s.Abandon))
}

func (s *Session) bind(crew *routine.Group, unbind func() bool) {
	s.wire.crew, s.cancel.crew, s.unbind = crew, crew, unbind
}

// Cancel asks the server to cancel the run under way, and abandons it when it has not ended after
// Obey. It returns at once, and does nothing when no run is under way or it has been cancelled
// before.
func (s *Session) Cancel(reason Reason) { s.cancel.cancel(reason) }

// Abandon cuts the connection off, whatever is under way: Await and the others return an error.
func (s *Session) Abandon() { _ = beneath(s.wire.conn.Conn()).Close() }

// Close ends the session; what it had not committed is rolled back.
func (s *Session) Close() {
	s.unbind()
	s.cancel.exit()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	defer s.wire.crew.When(ctx, s.Abandon)()
	_ = s.wire.conn.Close(ctx)
	_ = s.wire.landed()
}
