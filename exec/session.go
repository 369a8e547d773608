package exec

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/routine"
)

// Session is one PostgreSQL backend connection on which tasks run, one after the other. It belongs
// to one goroutine; only Cancel and Abandon may be called from others.
//
// The way of a task: Begin sends, in one flush, what is left to do for the task before, the
// settings, BEGIN and the input; Await reads what comes of the input; the next Begin, or End,
// finishes it. Where Begin has sent other tasks behind it, Next does.
type Session struct {
	PID   uint32    // of the backend
	Since time.Time // start of the backend, by the server's clock; zero on a remote

	Superuser bool // it has logged in as one
	Reads     bool // when it was opened, its transactions began as READ ONLY

	Scans   bool // enable_seqscan was on
	Foreign bool // when it was opened its database had foreign servers: what writes through them has no transaction id here

	local    bool   // it is in the database of the target
	user     string // that it logged in as
	path     []byte // search_path at its start, and after each reset
	silence  string // how long it may rest in a transaction, as idle_in_transaction_session_timeout
	readOnly bool   // its transactions begin as READ ONLY; when that changes the server tells, from 14 on

	wire
	remains
	names
	shown
	underWay
	ahead
	planning
	cancel canceller

	crew   *routine.Group // what it starts belongs to
	unbind func() bool    // from the end of the crew
	gone   error          // where the session has ended after all was rolled back
}

// Connect opens a session. The configuration's RuntimeParams are what a reset returns to. limit
// bounds each statement of our own on it. The error is a *pgconn.ConnectError, a *pgconn.PgError or
// one of the network; or a *routine.Panic, if what the server says brings a panic about.
func Connect(ctx context.Context, cfg *pgconn.Config, limit time.Duration, local bool) (s *Session, err error) {
	err = routine.Guard(func() (err error) {
		s, err = connect(ctx, cfg, limit, local)
		return err
	})
	return s, err
}

func connect(ctx context.Context, cfg *pgconn.Config, limit time.Duration, local bool) (*Session, error) {
	var reader *bound // the last one: a connection may take several tries
	bounded(cfg, func(b *bound) { reader = b })
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s := &Session{
		PID: conn.PID(), local: local, shown: shown{base: cfg.RuntimeParams, texts: []byte{}},
		wire: wire{conn: conn, front: conn.Frontend(), reader: reader, status: 'I', limit: limit},
	}
	s.noted = s.note
	s.cancel.obey, s.cancel.request, s.cancel.cut = Obey, conn.CancelRequest, s.Abandon
	s.rename()
	s.baseEncoding, s.Superuser = conn.ParameterStatus("client_encoding"), conn.ParameterStatus("is_superuser") == "on"
	s.encoding = s.baseEncoding
	s.crew, s.unbind = routine.New(context.Background()), func() bool { return true }
	if err := s.introduce(ctx, local); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return s, nil
}

// Within makes what the session starts the crew's, and abandons the session when the crew ends,
// unless it is closed before.
func (s *Session) Within(crew *routine.Group) {
	s.crew, s.unbind = crew, crew.When(crew.Context(), s.Abandon)
}

// User is the role that the session has logged in as.
func (s *Session) User() string { return s.user }

// Close ends the session; what it had not committed is rolled back.
func (s *Session) Close() {
	s.unbind()
	s.cancel.settle()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
}

// Abandon cuts the connection off, whatever is under way: Await and the others return an error.
func (s *Session) Abandon() { _ = s.conn.Conn().Close() }

// Lost is the end of a session: the connection is gone, by itself or with a FATAL error of the
// server's.
type Lost struct {
	Fatal *pgproto3.ErrorResponse // the server's last word, nil when there was none
	Cause error

	Broken  bool // the server has broken the protocol
	Unbegun bool // the SQL that Begin was to send has certainly not begun
	Limited bool // by a limit that SQL has set for its session, at a statement of ours: the transaction is rolled back
}

func (l *Lost) Error() string {
	if l.Fatal != nil {
		return fmt.Sprintf("session lost: %s (SQLSTATE %s)", l.Fatal.Message, l.Fatal.Code)
	}
	return "session lost: " + l.Cause.Error()
}

func (l *Lost) Unwrap() error { return l.Cause }

// Failure is the server's last word, as the row of the task that it met shows it.
func (l *Lost) Failure(statement string) *Failure { return serverFailure(l.Fatal, statement) }

// note takes down a setting that the server tells us of.
func (s *Session) note(m *pgproto3.ParameterStatus) {
	switch m.Name {
	case "session_authorization":
		s.clean = s.clean && m.Value == s.user // before 14 the server also tells what has not changed
	case "default_transaction_read_only":
		s.readOnly = m.Value == "on"
	case "client_encoding":
		s.encoding = m.Value
	}
}
