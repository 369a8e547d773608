package exec

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/routine"
)

// Session is one PostgreSQL backend connection on which tasks run, one after the other. It belongs
// to one goroutine; only Cancel and Abandon may be called from others.
//
// The way of a task: Begin sends, in one flush, the COMMIT of the task before, the settings, BEGIN,
// the input and the question about its transaction. Await reads the answers to the input and the
// question. The next Begin, or End, commits; if Begin has sent other tasks after it, Next does. No
// statement of ours touches the task table.
type Session struct {
	PID   uint32    // of the backend
	Since time.Time // start of the backend, by the server's clock; zero on a remote

	User      string // the role that it has logged in as
	Superuser bool   // which is one
	Reads     bool   // when it was opened, its transactions began as READ ONLY
	Foreign   bool   // when it was opened, its database had foreign servers: writes through them have no transaction id here

	// AskedForPassword: the server has asked for the password. If it has not, it trusts the
	// controller, whatever the task knows.
	AskedForPassword bool

	wire     *wire
	setup    setup
	question question
	pipeline pipeline
	cancel   canceller
	unbind   func() bool // from the end of the crew
}

// pipeline is what is with the server.
type pipeline struct {
	probing int      // statements of ours that are sent after the SQL under way
	behind  []queued // tasks whose SQL is with the server after that
	last    *Task    // of them, or the one under way
	open    bool     // more can be sent after them, and the question of the last expects it
}

// queued is a task whose SQL is with the server.
type queued struct {
	task     *Task
	tail     int // statements that commit the task before,
	prepared int // that make the session ready,
	probing  int // and that ask what has become of the transaction
}

// Connect opens a session, in the target's own database (local) or elsewhere. A reset returns to
// the RuntimeParams of the configuration. limit is for each statement of ours on the session.
// trusted: the session is the serving role's, whose password is its own. The error is a
// *pgconn.ConnectError, a *pgconn.PgError or one of the network, or a *routine.Panic if the server
// makes us panic.
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
		PID: w.conn.PID(), Superuser: w.conn.ParameterStatus("is_superuser") == "on", AskedForPassword: w.reader.AskedForPassword(),
		wire:  w,
		setup: setup{wire: w, shown: shown{base: cfg.RuntimeParams}},
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

// introduction asks for what must be known of the server and the session: the login, whether there
// are foreign servers, how transactions begin, whether a role is set, and the limits of an idle
// transaction and of a transaction. It also asks when the backend started, which names the backend
// for good together with its process id; the set role may not see that, so it is asked without that
// role. Function calls and no operator: the search path may be anybody's.
const introduction = `SELECT session_user, EXISTS (SELECT FROM pg_catalog.pg_foreign_server),
	pg_catalog.current_setting('default_transaction_read_only'), pg_catalog.current_setting('role'),
	pg_catalog.current_setting('idle_in_transaction_session_timeout'), pg_catalog.current_setting('transaction_timeout', true),
	(SELECT a.backend_start FROM (
		SELECT pg_catalog.pg_backend_pid() AS pid, pg_catalog.set_config('role', 'none', true) OFFSET 0
	) AS unmasked, pg_catalog.pg_stat_get_activity(unmasked.pid) AS a)`

// introduce reads the answer to introduction.
func (s *Session) introduce(ctx context.Context) error {
	if s.PID == 0 {
		return errors.New("the server did not name its backend, so nothing could be cancelled")
	}
	row, err := s.wire.row(ctx, introduction, 7)
	if err != nil {
		return err
	}
	if s.question.local {
		if s.Since, err = moment(row[6]); err != nil {
			return err
		}
	}
	s.User, s.Foreign, s.setup.masked = string(row[0]), string(row[1]) == "\x01", string(row[3]) != "none"
	s.wire.readOnly = string(row[2]) == "on"
	s.Reads = s.wire.readOnly
	if s.question.silence = string(row[4]); s.question.silence == "0" && !s.question.local {
		s.question.silence = silenceMost
	}
	s.question.timed, s.setup.endless = row[5] != nil, row[5] == nil || string(row[5]) == "0"
	return nil
}

// ServerStart is when the server was started. It is asked before the first task.
func (s *Session) ServerStart(ctx context.Context) (time.Time, error) {
	row, err := s.wire.row(ctx, "SELECT pg_catalog.pg_postmaster_start_time()", 1)
	if err != nil {
		return time.Time{}, err
	}
	return moment(row[0])
}

// Within makes the crew own what the session starts. If the crew ends before the session is closed,
// the session is abandoned.
func (s *Session) Within(crew *routine.Group) {
	s.bind(crew, crew.When(crew.Context(), s.Abandon))
}

func (s *Session) bind(crew *routine.Group, unbind func() bool) {
	s.wire.crew, s.wire.outlet.crew, s.cancel.crew, s.unbind = crew, crew, crew, unbind
}

// Cancel asks the server to cancel the run under way, and abandons the session if the run has not
// ended after Obey. It returns at once. It does nothing if no run is under way, or if that was
// cancelled before.
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

// Short queries are sent several at once, because the exchange of messages costs more than they do.
// Each has a transaction, a reset and settings of its own, as if it were sent alone. But it must
// begin in time: if a query takes longer than expected, the server skips those after it, and they
// start again when their turn has come.
//
// None of them may have an effect, since its row is not prepared. The question after each makes an
// effect an error, and the server skips all the rest.
//
// More can be sent while they are under way, so that the server need not wait for us. Everything
// that is sent at once ends with a Sync: there the server becomes ready, and its limits for a
// silent session hold. It becomes ready there after a failure, too, and goes on. So what is sent
// later begins with a statement that fails in a failed transaction.

// Behind is how many tasks are with the server after the one under way.
func (s *Session) Behind() int { return len(s.pipeline.behind) }

// Takes tells whether Extend may send more.
func (s *Session) Takes() bool { return s.pipeline.open && !s.cancel.asked() }

// goesOn fails if something before it has failed. If even the transaction is gone, the COMMIT AND
// CHAIN after it fails.
const goesOn = "SELECT"

// Extend sends more tasks after those that are with the server, of which one is under way. Await
// tells of an error.
func (s *Session) Extend(then ...*Task) {
	s.wire.within(s.wire.brief)
	defer s.wire.unlimited()
	s.setup.call(goesOn)
	s.sendBehind(then)
	if s.wire.flush() != nil {
		s.Abandon()
	}
}

// sendBehind queues tasks after another one, each with all that belongs to it.
func (s *Session) sendBehind(then []*Task) {
	s.pipeline.behind = slices.Grow(s.pipeline.behind, len(then))
	for i, next := range then {
		q := queued{task: next}
		s.setup.state.left(s.pipeline.last)
		s.pipeline.last = next
		chained := s.setup.chains(next)
		s.setup.commit(chained)
		q.tail = s.wire.queued()
		s.setup.prepare(next, chained, next.Until)
		q.prepared = s.wire.queued()
		s.wire.input(next.Input)
		if i == len(then)-1 && next.Query { // we may never be heard of again
			q.probing = s.question.ask(next)
		} else {
			q.probing = s.question.askAhead(next)
		}
		s.pipeline.behind = append(s.pipeline.behind, q)
	}
	s.wire.sync()
	s.pipeline.open = true
}

// Next goes on to the task after the one that has run, and returns when that task's transaction is
// open: its SQL is under way then, since start by the server's clock. begun is false if the server
// has skipped it and all after it; with an error, it may have. The verdict is on the task before.
func (s *Session) Next() (verdict *Verdict, start time.Time, begun bool, err error) {
	s.wire.within(s.wire.brief)
	defer s.wire.unlimited()
	q := s.pipeline.behind[0]
	s.pipeline.behind = s.pipeline.behind[1:]
	verdict, passed, err := s.readTail(&Tail{}, q.tail)
	if err != nil || passed {
		s.pipeline.behind = nil
		return verdict, start, false, err
	}
	start, failure, err := s.setup.read(q.prepared)
	switch {
	case err != nil:
		return verdict, start, false, err
	case failure != nil:
		s.pipeline.behind = nil
		return verdict, start, false, nil
	}
	s.pipeline.probing = q.probing
	s.cancel.enter(q.task.Timeout)
	return verdict, start, true, nil
}
