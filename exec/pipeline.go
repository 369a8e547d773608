package exec

import (
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Queries that are over in no time are sent several at once: the exchange of messages costs more
// than they do. Each has a transaction, a reset and settings of its own, as if it were sent when
// the one before is over, but that it must begin in time: what a query that takes longer than
// expected has kept waiting is passed over, and starts again when its turn has come.
//
// None of them may have an effect, since its end would have to be in its transaction: a probe
// behind each makes that an error, by which the server passes over all the rest.
//
// More can be sent behind them while they are under way, so that the server need not wait for us.
// What is sent at once ends with a Sync, by which the server is ready when it hears no more of us,
// and its limits for a silent session hold. After a failure it is ready there, too, and goes on: so
// what is sent later begins with a statement that fails in a transaction that has failed.

// queued is a task whose SQL is with the server behind that of another.
type queued struct {
	task     *Task
	tail     int // statements that finish the task before,
	prepared int // that make the session ready,
	probing  int // and that ask what has become of the transaction
	reset    bool
	bound    bool
}

// ahead is what has been sent behind the SQL under way.
type ahead struct {
	behind []queued // tasks whose SQL is with the server behind that
	open   bool     // more can be sent behind them, and what asks of the last expects it
	broken error    // by what was sent behind the task under way
}

// Pipelines tells whether other tasks may be sent behind an input like this one: queries only, that
// choose nothing for their transaction and leave nothing by which those behind could be told, or
// disturbed, before we know of it.
func (t Traits) Pipelines() bool {
	return t.Reads && !t.Isolation && !t.Modes && !t.Prepared && !t.Limits && !t.Notifies && !t.Outside && !t.Stdin
}

// pipelined tells whether the session can have other tasks behind this one.
func (s *Session) pipelined(t *Task) bool {
	return t.Atomic && !t.Strict && t.Traits.Pipelines() && s.usualModes && s.clean && !s.hard && !s.wary &&
		(!t.Save || !s.cursors || s.renewed) // they may write at COMMIT
}

// Clean tells whether tasks can be sent one behind the other, as far as is known of the session
// before the first begins.
func (s *Session) Clean() bool { return s.usualModes && s.clean && !s.hard }

// Behind is how many tasks are with the server behind the one under way.
func (s *Session) Behind() int { return len(s.behind) }

// Takes tells whether more can be sent behind the tasks that are with the server.
func (s *Session) Takes() bool {
	return s.open && s.Clean() && !s.cancel.asked()
}

// goesOn fails where what was sent before has failed. Where even the transaction is gone, COMMIT
// AND CHAIN behind it does.
var goesOn = &Statement{"pgtaskd_goes_on", "SELECT"}

// Extend sends more tasks behind those that are with the server, of which one is under way. What
// becomes of the session by that Await tells.
func (s *Session) Extend(then ...*Task) {
	s.within(s.brief)
	defer s.limited(false)
	s.call(goesOn)
	s.sendBehind(then)
	if s.broken = s.flush(); s.broken != nil {
		s.Abandon()
	}
}

// sendBehind queues all that belongs to tasks that follow on another.
func (s *Session) sendBehind(then []*Task) {
	for i, next := range then {
		q := queued{task: next}
		s.sendTail(&Tail{}, true, next.Keep)
		q.tail = s.queued()
		q.reset = s.sendPrepare(next, true, next.Until)
		q.prepared = s.queued()
		s.front.Send(&pgproto3.Flush{})
		q.bound = s.sendPipelined(next, then[i+1:])
		s.sendEvidenceAhead(next)
		if i == len(then)-1 && next.Query { // we may never be heard of again
			s.sendProbeAlone(next)
		} else {
			s.sendProbeAhead(next)
		}
		q.probing = s.queued()
		s.behind = append(s.behind, q)
	}
	s.sync()
	s.open, s.planned = true, ""
}

// Next goes on to the task behind the one that has run, once its transaction is seen to be open:
// its SQL is under way then, since start by the server's clock. When begun is false the server has
// passed over it and all behind it, or, when there is an error too, may have. The verdict is on the
// task before.
func (s *Session) Next() (verdict *Verdict, start time.Time, begun bool, err error) {
	s.within(s.brief)
	defer s.limited(false)
	q := s.behind[0]
	s.behind = s.behind[1:]
	verdict, passed, err := s.readTail(&Tail{}, q.tail)
	if err != nil || passed {
		s.behind = nil
		return verdict, start, false, err
	}
	start, failure, err := s.readPrepared(q.prepared)
	switch {
	case err != nil:
		return verdict, start, false, err
	case failure != nil:
		s.behind = nil
		s.undone = s.undone || q.reset // the part of it that does not roll back is done
		if unclean(failure) && failure.Routine != lateRoutine {
			s.distrust()
		}
		return verdict, start, false, nil
	}
	s.prepared(q.task, true, q.reset)
	s.probing, s.bound = q.probing, q.bound
	s.cancel.enter(q.task.Timeout, s.crew)
	return verdict, start, true, nil
}

// lateRoutine is that of the server's error when guardTime fails.
const lateRoutine = "int84div"

// What several tasks run one after the other is planned once, by the extended protocol: queries
// that are sent at once, and what is sent one by one, such as writes. It is planned after all that
// they are to find was there (Task.Settled), and again for what may find more.

const inputName = "pgtaskd_input"

// planning is what is known of plans that may be shared.
type planning struct {
	planned   string    // the input that is planned
	before    string    // the input sent last, if its plan may be kept
	sent      time.Time // when it was
	plannedAt time.Time // a moment before that
	apart     bool      // writes share none: there are rules by which they may not, or an end was refused where one had run
}

// varies tells what another run by the same plan would show otherwise: constants, which their
// type's own input reads; parameters; names so long that the parser gives notice of it; the list of
// portals, of which the run's own is one then; and the list of settings, which has a rule that
// shows rows.
func (t token) varies() bool {
	switch t.kind {
	case tokenWord, tokenName, tokenCodedName:
		return len(t.text) >= 64 || slices.ContainsFunc([]string{"pg_cursors", "pg_cursor", "pg_settings"},
			func(name string) bool { return strings.EqualFold(name, t.text) })
	case tokenString:
		return true
	case tokenOther:
		return strings.IndexByte(t.text, '$') >= 0
	}
	return false
}

// sendPipelined queues the SQL of a task, with others to be sent behind it. Not with save, as what
// one leaves may be a setting by which another is planned otherwise. bound: it is a statement of
// the extended protocol.
func (s *Session) sendPipelined(t *Task, behind []*Task) (bound bool) {
	switch {
	case !t.Traits.Plain || t.Save || s.planned != t.Input && (len(behind) == 0 || behind[0].Input != t.Input):
		s.query(t.Input)
		return false
	case s.planned != t.Input:
		s.plan(t.Input)
	}
	s.sendPlanned()
	return true
}

// plannedFor is how long tasks that are sent one by one share a plan.
const plannedFor = 50 * time.Millisecond

// sendSingle queues the SQL of a task that nothing is sent behind. Where the one before it had the
// same, was sent when this one might have been, and was short, there are likely to be more of them,
// so that it is worth while to keep the plan. bound: as with sendPipelined.
func (s *Session) sendSingle(t *Task) (bound bool) {
	now := time.Now()
	again := s.before == t.Input && !t.Settled.IsZero() && !t.Settled.After(s.sent) && now.Sub(s.sent) <= plannedFor
	s.before, s.sent = "", now
	if !s.keepsPlan(t) {
		s.query(t.Input)
		return false
	}
	s.before = t.Input
	switch {
	case !again:
		s.query(t.Input)
		return false
	case s.planned != t.Input || t.Settled.After(s.plannedAt) || now.Sub(s.plannedAt) > plannedFor:
		s.plan(t.Input)
		s.plannedAt, s.judged = now, !t.Traits.Reads
	}
	s.sendPlanned()
	return true
}

// keepsPlan tells whether the plan of a task may serve those behind it.
func (s *Session) keepsPlan(t *Task) bool {
	return t.Traits.Plain && t.Atomic && !t.Save && !t.Query && !t.Watched && len(t.Input) <= plannedLongest &&
		!t.Traits.Isolation && !t.Traits.Modes && !t.Traits.Prepared && !t.Traits.Limits &&
		!t.Traits.Notifies && !t.Traits.Outside &&
		(t.Timeout == 0 || t.Timeout >= time.Second) && // which what we ask behind it has to keep as well
		s.clean && s.usualModes && !s.hard && !s.wary && (t.Traits.Reads || !s.apart)
}

// plannedLongest is the longest input that is kept to be compared with the next, in bytes.
const plannedLongest = 8 << 10

func (s *Session) plan(input string) {
	s.front.SendClose(&pgproto3.Close{ObjectType: 'S', Name: s.named(inputName)})
	s.front.SendParse(&pgproto3.Parse{Name: s.named(inputName), Query: input})
	s.planned = input
}

func (s *Session) sendPlanned() {
	s.front.SendBind(&pgproto3.Bind{PreparedStatement: s.named(inputName)})
	s.front.SendDescribe(&pgproto3.Describe{ObjectType: 'P'})
	s.front.SendExecute(&pgproto3.Execute{})
}

// unruled fails where a rule may add queries to a write: their rows the extended protocol leaves
// out. Of those of the system (below 16384) only that of pg_settings does, which may also be met
// through a view of somebody's. It comes behind the first run of a plan, when the write has locked
// its table against new rules, and returns nothing.
var unruled = &Statement{"pgtaskd_unruled", `SELECT WHERE 1 OPERATOR(pg_catalog./) (NOT EXISTS (SELECT FROM pg_catalog.pg_rewrite AS r ` +
	`WHERE r.ev_type OPERATOR(pg_catalog.<>) '1' AND r.oid OPERATOR(pg_catalog.>=) 16384) ` +
	`AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass ` +
	`AND d.refobjid OPERATOR(pg_catalog.=) 'pg_catalog.pg_settings'::pg_catalog.regclass AND d.objid OPERATOR(pg_catalog.>=) 16384))::pg_catalog.int4 OPERATOR(pg_catalog.=) 0`}

// unplanned tells the errors of a plan that does not serve: it is gone, with all that is prepared,
// or what it returns has another form by now. Those that a function meets have a context.
func (s *Session) unplanned(failure *pgproto3.ErrorResponse) bool {
	return failure.Where == "" && (s.forgotten(failure) || failure.Code == "0A000" && failure.Routine == "RevalidateCachedQuery")
}
