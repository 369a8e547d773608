package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/routine"
)

// Session is one PostgreSQL backend connection on which tasks run, one after the other. It belongs
// to one goroutine; only Cancel and Abandon may be called from others.
//
// The way of a task: Begin sends, in one flush, the COMMIT of the task before, the settings, BEGIN,
// the input and the question what has become of its transaction; Await reads the answers to the last
// two; the next Begin, or End, commits. Where Begin has sent other tasks after it, Next does. No
// statement of ours is prepared here, and none touches the table of the tasks.
type Session struct {
	PID   uint32    // of the backend
	Since time.Time // start of the backend, by the server's clock; zero on a remote

	Superuser bool // it has logged in as one
	Reads     bool // when it was opened, its transactions began as READ ONLY
	Foreign   bool // when it was opened its database had foreign servers: what writes through them has no transaction id here

	local    bool   // it is in the database of the target
	user     string // that it logged in as
	masked   bool   // ALTER ROLE or ALTER DATABASE … SET role has it run as another role than its login
	silence  string // how long it may rest in a transaction, as idle_in_transaction_session_timeout
	timed    bool   // the server knows transaction_timeout,
	endless  bool   // and the role has none
	readOnly bool   // its transactions begin as READ ONLY; when that changes the server tells, from 14 on

	wire
	state
	shown
	ahead
	probing int // statements of ours that are sent after the SQL under way
	cancel  canceller

	crew   *routine.Group // what it starts belongs to
	unbind func() bool    // from the end of the crew
}

// Connect opens a session, in the target's own database or elsewhere. The configuration's
// RuntimeParams are what a reset returns to. limit bounds each statement of our own on it. trusted is
// one of the serving role's, whose password is its own. The error is a *pgconn.ConnectError, a *pgconn.PgError or one of the network; or a
// *routine.Panic, if what the server says brings a panic about.
func Connect(ctx context.Context, cfg *pgconn.Config, limit time.Duration, local, trusted bool) (s *Session, err error) {
	err = routine.Guard(func() (err error) {
		s, err = connect(ctx, cfg, limit, local, trusted)
		return err
	})
	return s, err
}

func connect(ctx context.Context, cfg *pgconn.Config, limit time.Duration, local, trusted bool) (*Session, error) {
	var reader *bound // the last ones: a connection may take several tries
	var out *outlet
	bounded(cfg, func(b *bound) {
		if reader, b.own, b.afford = b, local, affordable; !trusted {
			b.afford = affords(ctx)
		}
	})
	build := cfg.BuildFrontend
	cfg.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		out = &outlet{to: w}
		return build(r, out)
	}
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s := &Session{
		PID: conn.PID(), local: local, state: state{known: map[string]string{}}, shown: shown{base: cfg.RuntimeParams, texts: []byte{}},
		wire: wire{conn: conn, front: conn.Frontend(), reader: reader, outlet: out, status: 'I', limit: limit, brief: readyMost},
	}
	out.keeps = true
	s.spawn = func(do func()) { s.crew.Go(do) }
	s.noted = s.note
	s.cancel.obey, s.cancel.request, s.cancel.cut = Obey, conn.CancelRequest, s.Abandon
	s.Superuser = conn.ParameterStatus("is_superuser") == "on"
	s.crew, s.unbind = routine.New(context.Background()), func() bool { return true }
	if err := s.introduce(ctx); err != nil {
		s.Close()
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

// AskedForPassword tells whether the server has asked for the password. Where it did not, the
// connection rests on who the controller is, not on what the task knows.
func (s *Session) AskedForPassword() bool { return s.reader.asked }

// Close ends the session; what it had not committed is rolled back.
func (s *Session) Close() {
	s.unbind()
	s.cancel.exit()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	defer s.crew.When(ctx, s.Abandon)()
	_ = s.conn.Close(ctx)
	_ = s.landed()
}

// Lost is the end of a session: the connection is gone, by itself or with a FATAL error of the
// server's.
type Lost struct {
	Fatal *pgproto3.ErrorResponse // the server's last word, nil when there was none
	Cause error

	Broken  bool // the server has broken the protocol
	Unbegun bool // the SQL that Begin was to send has certainly not begun
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
	if m.Name == "default_transaction_read_only" {
		s.readOnly = m.Value == "on"
	}
}

// What a session asks of its server, before the first task or instead of one. Nothing in the
// answers is taken for granted: a remote may be anybody's server.

// introduction asks what must be known of the server and the session: who has logged in, whether
// there are foreign servers, how transactions begin, whether a role is set, how long the session may
// rest in a transaction and how long that may last, and, without that role, which may not see it,
// when the backend started, since together with its process id that names it for good. The path may
// be anybody's: it is function calls, and no operator.
const introduction = `SELECT session_user, EXISTS (SELECT FROM pg_catalog.pg_foreign_server),
	pg_catalog.current_setting('default_transaction_read_only'), pg_catalog.current_setting('role'),
	pg_catalog.current_setting('idle_in_transaction_session_timeout'), pg_catalog.current_setting('transaction_timeout', true),
	(SELECT a.backend_start FROM (
		SELECT pg_catalog.pg_backend_pid() AS pid, pg_catalog.set_config('role', 'none', true) OFFSET 0
	) AS unmasked, pg_catalog.pg_stat_get_activity(unmasked.pid) AS a)`

// settingLongest is longer than any name, and than what a limit is shown as, in bytes.
const settingLongest = 1 << 10

// introduce reads the answer to introduction.
func (s *Session) introduce(ctx context.Context) error {
	if s.PID == 0 {
		return errors.New("the server did not name its backend, so nothing could be cancelled")
	}
	row, err := s.ask(ctx, introduction, 7)
	if err != nil {
		return err
	}
	for _, i := range []int{0, 2, 3, 4} {
		if len(row[i]) == 0 || len(row[i]) > settingLongest {
			return errAnswer
		}
	}
	var bad [2]error
	s.Foreign, bad[0] = boolean(row[1])
	if s.local {
		s.Since, bad[1] = moment(row[6])
	}
	if err := errors.Join(bad[:]...); err != nil {
		return err
	}
	s.user, s.masked = string(row[0]), string(row[3]) != "none"
	s.readOnly = string(row[2]) == "on"
	s.Reads = s.readOnly
	if s.silence = string(row[4]); s.silence == "0" && !s.local {
		s.silence = silenceMost
	}
	s.timed, s.endless = row[5] != nil, row[5] == nil || string(row[5]) == "0"
	return nil
}
