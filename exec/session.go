package exec

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/routine"
)

// Session is one PostgreSQL backend connection on which tasks run, one after the other. It belongs to one goroutine; only
// Cancel and Abandon may be called from others.
//
// The way of a task: Begin sends, in one flush, what is left to do for the task before, the settings, BEGIN and the input;
// Await reads what comes of the input; the next Begin, or End, finishes it. Where Begin has sent other tasks behind it, Next does.
type Session struct {
	PID   uint32    // of the backend
	Since time.Time // start of the backend, by the server's clock; zero on a remote

	Scans   bool // enable_seqscan was on
	Foreign bool // when it was opened its database had foreign servers: what writes through them has no transaction id here

	conn   *pgconn.PgConn
	reader *bound // of what the server sends
	front  *pgproto3.Frontend
	base   map[string]string // settings to which a reset returns
	local  bool              // it is in the database of the target

	known   map[string]string // our prepared statements: names, but for the secret, and texts
	secret  string            // part of their names
	renamed time.Time         // when it was chosen
	unseen  bool              // SQL may have changed them since it was seen that they are ours
	asks    evidence          // what is asked behind the SQL under way
	listed  int               // how many of ours the list is to show
	asked   int               // statements of ours that are queued, see queued
	parsing []string          // names of those that it is to prepare and has not spoken of yet
	syncs   int               // those that it has not answered
	wary    bool              // nothing is taken for prepared
	ready   [32]*Statement    // set what a task shows: +1, +2 the usual as well; +4, +8, +16 with a guard
	texts   []byte            // of the parameters of such a statement, never nil
	values  [][]byte          // the parameters, parts of it
	formats []int16           // of each
	clean   bool              // no procedural language has been at work
	user    string            // that it logged in as
	masked  bool              // ALTER ROLE or ALTER DATABASE … SET role has it run as another role than that
	path    []byte            // search_path at its start, and after each reset

	// Transactions begin as READ COMMITTED and READ WRITE: at its start, and now.
	baseUsualModes, usualModes bool
	baseEncoding, encoding     string // client_encoding

	// Since the last reset:
	dirty      bool // a task has run
	cursors    bool // there may be cursors WITH HOLD
	temporary  bool // there may be temporary objects
	hard       bool // what is prepared is not known, or not all ours
	ours       bool // the open transaction has been made ours behind the SQL that has run in it
	partly     bool // but for what its SQL has hardly changed
	undone     bool // what was reset has been rolled back
	renewed    bool // a reset is queued
	discarding bool // with DISCARD ALL, which has not been answered

	// What made the session ready is part of the open transaction, and so is a reset; timeoutSet was this before.
	chained, chainedReset, timeoutBefore bool

	readOnly bool // its transactions begin as READ ONLY; when that changes the server tells, from 14 on

	crew   *routine.Group // what it starts belongs to
	unbind func() bool    // from the end of the crew

	gone       error // where the session has ended after all was rolled back
	unsent     error // why a long message could not be sent
	written    bool  // something of what is being sent has left us
	status     byte  // transaction status of the last ReadyForQuery
	timeoutSet bool  // statement_timeout is ours, and stays at the next task with save unless it is reset

	probing int                     // statements that ask what has become of the transaction, behind the SQL under way
	behind  []queued                // tasks whose SQL is with the server behind that
	open    bool                    // more can be sent behind them, and what asks of the last expects it
	broken  error                   // by what was sent behind the task under way
	planned string                  // the input that is planned
	bound   bool                    // the SQL under way was sent as one that is planned
	failing *pgproto3.ErrorResponse // it has failed, and the server passes over what is behind it

	before    string    // the input sent last, if its plan may be kept
	sent      time.Time // when it was
	plannedAt time.Time // a moment before that
	judged    bool      // behind the SQL under way is asked whether the plan may be kept
	apart     bool      // writes share none: there are rules by which they may not, or an end was refused where one had run

	limit    time.Duration // for the answer to a statement of our own
	silence  string        // how long it may rest in a transaction, as idle_in_transaction_session_timeout
	deadline func() bool   // stops the timer of the run under way

	mu        sync.Mutex
	running   bool // an input is with the server
	cancelled Reason
	canceling chan struct{} // closed when the cancel request has been delivered
	abandon   func() bool   // stops the timer that does so
	obey      time.Duration // Obey
}

// Connect opens a session. The configuration's RuntimeParams are what a reset returns to. limit bounds each
// statement of our own on it. The error is a *pgconn.ConnectError, a *pgconn.PgError or one of the network; or a *routine.Panic, if
// what the server says brings a panic about.
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
		PID: conn.PID(), conn: conn, base: cfg.RuntimeParams, front: conn.Frontend(), reader: reader, local: local, status: 'I', limit: limit, obey: Obey, texts: []byte{},
	}
	s.rename()
	s.baseEncoding = conn.ParameterStatus("client_encoding")
	s.encoding = s.baseEncoding
	s.crew, s.unbind = routine.New(context.Background()), func() bool { return true }
	if err := s.introduce(ctx, local); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return s, nil
}

// Within makes what the session starts the crew's, and abandons the session when the crew ends, unless it is closed before.
func (s *Session) Within(crew *routine.Group) {
	s.crew, s.unbind = crew, crew.When(crew.Context(), s.Abandon)
}

// Close ends the session; what it had not committed is rolled back.
func (s *Session) Close() {
	s.unbind()
	s.settle()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
}

// Abandon cuts the connection off, whatever is under way: Await and the others return an error.
func (s *Session) Abandon() { _ = s.conn.Conn().Close() }

// Lost is the end of a session: the connection has gone, by itself or with a FATAL error of the server's.
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

// limited bounds the time until the answers to statements of our own have come.
func (s *Session) limited(on bool) {
	var until time.Time
	if on {
		until = time.Now().Add(s.limit)
	}
	_ = s.conn.Conn().SetDeadline(until)
}

// query queues a message; flush sends what is queued.
func (s *Session) query(sql string) {
	if len(sql) > queueMost {
		s.sendLongQuery(sql)
		return
	}
	s.front.SendQuery(&pgproto3.Query{String: sql})
}

func (s *Session) flush() error {
	err := s.unsent
	if err == nil {
		err = s.front.Flush()
	}
	if err != nil {
		return s.lost(err)
	}
	s.written = true
	return nil
}

// lost looks whether the server has left a last word in what it had sent before the connection broke.
func (s *Session) lost(cause error) error {
	_ = s.conn.Conn().SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	for {
		message, err := s.front.Receive()
		if err != nil {
			return &Lost{Cause: cause}
		}
		if e, ok := message.(*pgproto3.ErrorResponse); ok && fatal(e) {
			return &Lost{Fatal: copyError(e), Cause: cause, Limited: limit(e)}
		}
	}
}

// fatal tells an error that ends the session. Severity alone counts: SQL can raise any code, but none of its errors is FATAL.
func fatal(e *pgproto3.ErrorResponse) bool {
	severity := e.SeverityUnlocalized
	if severity == "" {
		severity = e.Severity
	}
	return severity == "FATAL" || severity == "PANIC"
}

// sink takes the messages that answer one query. Its fields may be nil.
type sink struct {
	rows     func([]pgproto3.FieldDescription)
	row      func([][]byte)
	complete func([]byte)
	copied   func([]byte)
	copyOut  func(binary bool)
	notice   func(*pgproto3.NoticeResponse)
	encoding func(string)
	bound    bool // it is one statement of the extended protocol
}

// answer reads until the server is ready for the next query, or a bound statement is over. The first error is returned as failure; err means that the
// session is lost. Messages live until the next is read.
func (s *Session) answer(to sink) (failure *pgproto3.ErrorResponse, err error) {
	for {
		message, err := s.front.Receive()
		if err != nil {
			return failure, cut(failure, err)
		}
		switch m := message.(type) {
		case *pgproto3.RowDescription:
			if to.rows != nil {
				to.rows(m.Fields)
			}
		case *pgproto3.DataRow:
			if to.row != nil {
				to.row(m.Values)
			}
		case *pgproto3.CommandComplete:
			if to.complete != nil {
				to.complete(m.CommandTag)
			}
			if to.bound {
				return failure, nil
			}
		case *pgproto3.CopyOutResponse:
			if to.copyOut != nil {
				to.copyOut(m.OverallFormat != 0)
			}
		case *pgproto3.CopyData:
			if to.copied != nil {
				to.copied(m.Data)
			}
		case *pgproto3.CopyInResponse:
			s.front.Send(&pgproto3.CopyFail{Message: "COPY FROM STDIN is not supported"})
			if err := s.flush(); err != nil {
				return failure, err
			}
		case *pgproto3.NoticeResponse:
			if to.notice != nil {
				to.notice(m)
			}
		case *pgproto3.ParameterStatus:
			s.noted(m, to.encoding)
		case *pgproto3.ErrorResponse:
			if failure == nil || fatal(m) {
				failure = copyError(m)
			}
			if to.bound && !fatal(m) {
				return failure, nil
			}
		case *pgproto3.EmptyQueryResponse:
			if to.bound {
				return failure, nil
			}
		case *pgproto3.ReadyForQuery:
			return failure, s.became(m)
		case *pgproto3.ParseComplete, *pgproto3.BindComplete, *pgproto3.CloseComplete, *pgproto3.NoData, *pgproto3.CopyDone, *pgproto3.NotificationResponse:
		default:
			return failure, unexpected(m)
		}
	}
}

// noted takes down a setting that the server tells us of.
func (s *Session) noted(m *pgproto3.ParameterStatus, encoding func(string)) {
	switch m.Name {
	case "session_authorization":
		s.clean = s.clean && m.Value == s.user // before 14 the server also tells what has not changed
	case "default_transaction_read_only":
		s.readOnly = m.Value == "on"
	case "client_encoding":
		s.encoding = m.Value
		if encoding != nil {
			encoding(m.Value)
		}
	}
}

func onlyFatal(e *pgproto3.ErrorResponse) *pgproto3.ErrorResponse {
	if e != nil && fatal(e) {
		return e
	}
	return nil
}

// copyError keeps an error beyond the next message.
func copyError(e *pgproto3.ErrorResponse) *pgproto3.ErrorResponse {
	c := *e
	return &c
}
