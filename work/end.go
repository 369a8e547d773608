package work

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/exec"
	"pgtaskd/work/run"
	"pgtaskd/work/schedule"
)

// end is what the loop writes for a task. It begins as what was seen of the run, and may become
// something else: the table may refuse it, or somebody may have stopped the task.
type end struct {
	run.Outcome // as it was seen; it stays
	task        *task
	kind        run.Kind
	start       time.Time
	fault       *exec.Failure
	delay       time.Duration // of a release
	stays       bool          // its backend is still to be ended
	written     chan struct{} // to be closed when it is written; nil: nobody waits
	putOff                    // when it could not be written
	passed      bool          // the ledger has passed it over
	note        *exec.Failure // what its row says beside DONE: that its series has ended
	barred      barred        // it met a lock
	refusals    int           // how often in a row its row has not taken it, and was neither changed nor locked
	version     uint32        // of the row, then
	usual       bool          // as isUsual tells, once the loop has it
	queued      bool          // it waits for its turn, as the table has refused it, or others
	place       int           // in its lane, among those that do
	lacks       bool          // it waits for a partition
	bare        bool          // no repetition: the table has refused the end with it
	redrawn     bool          // an id of the repetition may have been taken while it was written: once more
	conflict    bool          // of a release: another transaction was in the way
	final       bool          // no retry: the table has refused another end
	ascii       bool          // as the database lacks a character
	lessened    int           // how often less was made of it, as the table has refused it
	slot        bool          // it holds its slot until then
	relieved    bool          // it is heavy, and has given its slot back all the same
}

// endOf is what follows from an outcome of our task.
func endOf(o run.Outcome, t *task) end {
	return end{
		Outcome: o, task: t,
		kind: o.Kind, start: o.Start, fault: o.Fault, delay: o.Delay, stays: o.Stays, written: o.Written,
	}
}

// failure is why the task has failed, nil when it has not.
func (e end) failure() *exec.Failure {
	if e.fault == nil && e.Result != nil {
		return e.Result.Failure
	}
	return e.fault
}

// readVersion is that of the row which the end may be written to; 0: only one that shows WORK. A crash
// of the server can give a version that it has forgotten to another row.
func (e *end) readVersion() uint32 {
	if e.task.marked {
		return 0
	}
	return e.task.Row.Version
}

// begun is when the run began; one that never did has its stop.
func (e *end) begun() time.Time {
	if e.start.IsZero() {
		return e.Stop
	}
	return e.start
}

// exactly tells whether its effects happen exactly once.
func (e *end) exactly() bool { return e.task.Traits != nil && e.task.Once() }

// size is that of what is to be written, roughly, in bytes.
func (e end) size() (n int) {
	if e.Result != nil {
		n = run.Size(e.Result)
	}
	if e.fault != nil {
		n += len(e.fault.Text)
	}
	return n
}

// relieve gives the slot of a heavy end back whose row somebody has locked, where there are few of
// them: that may last. In a drain the session of a marked task stays with its end, which the next
// leader sees.
func (l *loop) relieve(e *end) {
	if e.written != nil && l.relieved+e.Weight <= relievedMost && (l.draining.IsZero() || !e.task.marked) {
		close(e.written)
		e.written, e.relieved = nil, true
		l.relieved += e.Weight
	}
}

// relievedMost is how many bytes of heavy ends need no slot.
const relievedMost = 16 << 20

// ended takes note that the row of a task shows its end, or that it waits again.
func (l *loop) ended(e end, state string) {
	l.stats.ends(state, 1)
	l.successors.endedAs(e.task.Row.ID, state)
	if !l.target.TaskLog.wants(state) {
		return
	}
	t := taskLine{id: e.task.Row.ID, state: state, group: e.task.Row.Group, attempt: e.task.Row.Attempt, start: e.start, stop: e.Stop}
	if e.task.Row.Key != nil {
		t.key = *e.task.Row.Key
	}
	if failure := e.failure(); failure != nil && state != "DONE" {
		t.error, t.sqlstate = failure.Text, failure.SQLState
	}
	l.report(t)
}

// changed is a task whose state a statement has changed without a run of ours.
type changed struct {
	id                          int64
	follows, repeats            bool
	state                       string
	group, key, sqlstate, error []byte // as the database has them; nil: NULL
	empty                       bool   // it has nothing to show, and is to be deleted
}

// counted takes note of tasks that have ended, or wait again, without a run of ours.
func (l *loop) counted(all []changed) {
	for _, c := range all {
		l.stats.ends(c.state, 1)
		l.successors.over(c.id)
		l.successors.endedAs(c.id, c.state)
		if !l.target.TaskLog.wants(c.state) {
			continue
		}
		l.report(taskLine{id: c.id, state: c.state, group: l.readable(c.group), key: l.readable(c.key), sqlstate: l.readable(c.sqlstate), error: l.readable(c.error)})
	}
}

// readable is a text of the database's, as far as it can be read.
func (l *loop) readable(text []byte) string {
	if l.encoding() == "UTF8" {
		return strings.ToValidUTF8(string(text), "?")
	}
	return exec.ASCII(string(text))
}

// state is what the row shows once the end is written.
func (e *end) state() string {
	if e.failure() != nil {
		return "FAIL"
	}
	return "DONE"
}

// noRetry tells whether the end is to be written even if the task has retries left.
func (e *end) noRetry() bool {
	f := e.failure()
	return f == nil || e.final || f.SQLState == codeGivesUp
}

// What a task raises to say itself whether and when it is tried again.
const (
	codeGivesUp = "TK001" // not at all
	codeLater   = "TK002" // after the interval in its DETAIL, if it has retries left
)

// What a task may ask for at most, so that plan stays within its bounds.
const (
	pauseMonths = 12_000
	pauseDays   = 400_000
	pauseMicros = pauseDays * 24 * 3600 * 1_000_000
)

// pause is how long the task itself wants to wait for its next try; null: it has not said.
func (e *end) pause() (p pgtype.Interval) {
	if f := e.failure(); f != nil && f.SQLState == codeLater {
		if interval, err := schedule.ParseInterval(f.Detail); err == nil && interval.Months <= pauseMonths &&
			interval.Days <= pauseDays && interval.Micros <= pauseMicros {
			p = pgtype.Interval{Months: int32(interval.Months), Days: int32(interval.Days), Microseconds: interval.Micros, Valid: true}
		}
	}
	return p
}

// putOff is when something is tried again that a row has not taken, as somebody has it locked, or a
// trigger left it out.
type putOff struct {
	wait  time.Duration // before the next try; 0: there has been none that failed
	since time.Time     // the first one that failed, by our clock,
	after time.Time     // and the next one
}

func (p *putOff) later() {
	if p.wait == 0 {
		p.since = time.Now()
	}
	p.wait = min(max(2*p.wait, 50*time.Millisecond), time.Second)
	p.after = time.Now().Add(p.wait)
}
