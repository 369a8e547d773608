package exec

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/routine"
)

// Session is one PostgreSQL backend connection. It runs tasks, one after the other. It belongs to
// one goroutine; only Cancel and Abandon may be called from others.
//
// A task takes three calls. Begin sends, in one flush, the COMMIT of the previous task, the
// settings, BEGIN, the input and the question about its transaction. Await reads the answers to the
// input and the question. End or the next Begin commits. If Begin has sent more tasks, the COMMIT
// is already sent, and Next reads its answer. No statement of ours touches the task table.
type Session struct {
	PID   uint32    // process id of the backend
	Since time.Time // start of the backend, by the server's clock; zero on a remote

	User      string // the role that it has logged in as
	Superuser bool   // User is a superuser
	Reads     bool   // when it was opened, its transactions began as READ ONLY
	Foreign   bool   // when opened, its database had foreign servers; writes through them give no local transaction id

	// AskedForPassword: the server has asked for the password. A server that has not asked trusts
	// the controller, even if the task does not know the password.
	AskedForPassword bool

	wire     *wire
	setup    setup
	question question
	pipeline pipeline
	cancel   canceller
	unbind   func() bool // stops the watch on the end of the crew
}

// pipeline lists the tasks that were sent to the server.
type pipeline struct {
	probing int      // number of our statements after the SQL under way
	behind  []queued // tasks whose SQL the server runs after that
	open    bool     // more tasks can follow: the last question allows no effects
}

// queued is a task whose SQL was sent, with the number of our statements around it.
type queued struct {
	task     *Task
	tail     int // statements that commit the previous task
	prepared int // statements that make the session ready
	probing  int // statements of the question
}

// Connect opens a session. local: in the target's own database. A reset returns to the
// RuntimeParams of the configuration. limit is the time for each statement of ours. trusted: the
// session uses the serving role and its own password. The error is a *pgconn.ConnectError, a
// *pgconn.PgError, a network error, or a *routine.Panic if an answer of the server makes us panic.
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
		setup: setup{wire: w, shown: shown{base: cfg.RuntimeParams, texts: map[parts]string{}}},
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

// introduction reads the login, whether there are foreign servers, whether transactions begin as
// READ ONLY, whether a role is set, and the time limits of an idle transaction and of a
// transaction. It also reads the start of the backend: process id and start together identify a
// backend. The set role may not see the start, so the query first switches to no role. It uses
// function calls and no operators, because anybody may have set the search path.
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

// ServerStart asks the server for its start time. Call it before the first task.
func (s *Session) ServerStart(ctx context.Context) (time.Time, error) {
	row, err := s.wire.row(ctx, "SELECT pg_catalog.pg_postmaster_start_time()", 1)
	if err != nil {
		return time.Time{}, err
	}
	return moment(row[0])
}

// Within makes the crew the owner of the session's goroutines and timers. If the crew ends before
// the session is closed, the session is abandoned.
func (s *Session) Within(crew *routine.Group) {
	s.bind(crew, crew.When(crew.Context(), s.Abandon))
}

func (s *Session) bind(crew *routine.Group, unbind func() bool) {
	s.wire.crew, s.wire.outlet.crew, s.cancel.crew, s.unbind = crew, crew, crew, unbind
}

// Cancel asks the server to cancel the run under way, and abandons the session if the run has not
// ended after Obey. It returns at once. It does nothing if no run is under way, or if the run was
// cancelled before.
func (s *Session) Cancel(reason Reason) { s.cancel.cancel(reason) }

// Abandon closes the connection at once. Calls that are under way return an error.
func (s *Session) Abandon() { _ = beneath(s.wire.conn.Conn()).Close() }

// Close ends the session. An open transaction is rolled back.
func (s *Session) Close() {
	s.unbind()
	s.cancel.exit()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	defer s.wire.crew.When(ctx, s.Abandon)()
	_ = s.wire.conn.Close(ctx)
	_ = s.wire.landed()
}

// A pipeline sends several short queries at once, because the exchange of messages costs more than
// the queries do. Each query has its own transaction, reset and settings, as if it were sent alone.
// But it must begin in time: if a query takes longer than expected, the server skips the queries
// after it, and they start again when it is their turn.
//
// No query of a pipeline may have an effect, because its row is not prepared. The question after
// each query turns an effect into an error, and the server skips the rest.
//
// More queries can be sent while the first ones run, so that the server need not wait for us. Each
// flush ends with a Sync. There the server becomes ready, and its time limits for an idle session
// apply. Even after a failure the server then runs the next flush, so each later flush begins with
// goesOn.

// Behind returns how many tasks the server has after the task under way.
func (s *Session) Behind() int { return len(s.pipeline.behind) }

// skipped records that the server has skipped everything that was sent after a failure. The session
// needs a reset, because its state counts the statements that were skipped.
func (s *Session) skipped() { s.pipeline.behind, s.setup.state.dirty = nil, true }

// Takes tells whether Extend may send more.
func (s *Session) Takes() bool { return s.pipeline.open && !s.cancel.asked() }

// goesOn fails in a failed transaction, so that the server skips the flush. If there is no
// transaction any more, the COMMIT AND CHAIN after it fails.
const goesOn = "SELECT"

// Extend sends more tasks after those that the server has, while one of them is under way. Await
// returns the error, if there is one.
func (s *Session) Extend(then ...*Task) {
	s.wire.within(s.wire.brief)
	defer s.wire.unlimited()
	s.setup.call(goesOn)
	s.sendBehind(then)
	if s.wire.flush() != nil {
		s.Abandon()
	}
}

// sendBehind queues further tasks, each with its tail, preparation and question.
func (s *Session) sendBehind(then []*Task) {
	s.pipeline.behind = slices.Grow(s.pipeline.behind, len(then))
	for i, next := range then {
		q := queued{task: next}
		chained := s.setup.chains(next)
		s.setup.commit(chained)
		q.tail = s.wire.queued()
		s.setup.prepare(next, chained, next.Until)
		q.prepared = s.wire.queued()
		s.wire.input(next.Input)
		if i == len(then)-1 && next.Query { // limits the wait of this transaction if we never send more
			q.probing = s.question.ask(next)
		} else {
			q.probing = s.question.askAhead(next)
		}
		s.pipeline.behind = append(s.pipeline.behind, q)
	}
	s.wire.sync()
	s.pipeline.open = true
}

// Next goes on to the next task of the pipeline. It returns when that task's transaction is open:
// its SQL is under way then, since start by the server's clock. begun is false if the server has
// skipped this task and all later ones; with an error, false proves nothing. The verdict is about
// the previous task.
func (s *Session) Next() (verdict *Verdict, start time.Time, begun bool, err error) {
	s.wire.within(s.wire.brief)
	defer s.wire.unlimited()
	q := s.pipeline.behind[0]
	s.pipeline.behind = s.pipeline.behind[1:]
	verdict, refused, err := s.readTail(&Tail{}, q.tail)
	if err != nil || refused {
		s.skipped()
		return verdict, start, false, err
	}
	start, failure, err := s.setup.read(q.prepared)
	switch {
	case err != nil:
		return verdict, start, false, err
	case failure != nil:
		s.skipped()
		return verdict, start, false, nil
	}
	s.pipeline.probing = q.probing
	s.cancel.enter(q.task.Timeout)
	return verdict, start, true, nil
}
