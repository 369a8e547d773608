package model

// session is a backend on which tasks run. Its place in state.sessions is its pid, which the server
// can hand out again.
type session struct {
	alive  bool
	linked bool // its client still has the connection
	far    bool // on the remote
	owner  uint8
	start  uint8 // backend_start
	// trusted: a round trip on the control connection has passed since the session was ready.
	trusted bool
	dying   bool // pg_terminate_backend has been called
	run     run
	queued  run // sent after the run, not begun
}

// run is a task as it was sent to a session.
type run struct {
	phase    phase
	task     uint8
	xmin     uint8 // of the row as it was read
	version  uint8
	request  uint8
	xact     uint8
	shown    bool // the mark was answered before the run was sent
	prepared bool // PREPARE of this run has found the row
}

type phase uint8

const (
	idle       phase = iota
	sent             // in flight to the server
	running          // its SQL runs, or has ended and its transaction stays open
	committing       // COMMIT is in flight
)

// open: its transaction has begun and has not ended.
func (r run) open() bool { return r.phase == running || r.phase == committing }

// somebody owns the sessions that are not ours.
const somebody = 2

// controller is one process: the backend of its control connection, and its memory.
type controller struct {
	role   role
	frozen bool
	stuck  bool // frozen, and its control session waits in ClientWrite or in a transaction
	alive  bool // the backend of the control connection
	linked bool // our end of it
	ledger bool // the connection of the ledger is registered
	tasks  [maxTasks]memory
	wire   [maxTasks]message   // PREPAREs in flight on the connection of the ledger
	spared [maxSessions]spared // by pid: sessions of marked runs at takeover
}

// message is a PREPARE in flight. It goes on even if its sender has forgotten the run.
type message struct {
	flying           bool
	xmin             uint8
	version, request uint8
	pid, start       uint8
	xact             uint8
	timeline         uint8
}

// spared is the session of a marked run that a takeover has left alone.
type spared struct {
	task  uint8 // task + 1; 0: none
	start uint8
}

type role uint8

const (
	follower role = iota
	locked        // takeover: has the lock
	counted       // takeover: has read the WORK rows
	awaiting      // takeover: has ended sessions, waits until they are gone
	leader
	draining // leads, starts nothing more
	handing  // has sent the unlock, no answer yet
	drained  // has given up the lead, finishes its marked runs
)

// memory is all that a controller knows of a task.
type memory struct {
	at         knows
	mark       mark
	prep       prep
	fenced     bool // the remote has answered the fence
	refused    bool // COMMIT was refused
	xmin       uint8
	version    uint8
	request    uint8
	pid, start uint8
	xact       uint8
}

type knows uint8

const (
	nothing  knows = iota
	ready          // read, not sent
	marking        // marked before it starts; not sent
	atWork         // sent to a session
	outcome        // COMMIT was answered; the ledger has to write the end
	inFlight       // END is in flight on the connection of the ledger
)

type mark uint8

const (
	unmarked mark = iota
	asked         // sent, no answer yet
	marked
	foundNone // the mark has found no row
)

type prep uint8

const (
	unprepared prep = iota
	prepAsked       // sent, no answer yet
	prepTaken
	prepNone // PREPARE has found no row
	prepLost // the connection broke before the answer
)

func (c *controller) leads() bool { return c.role == leader || c.role == draining }

// controls says whether a statement on the control connection is executed and answered.
func (c *controller) controls() bool { return c.alive && c.linked }

// runs says whether the controller counts the task as running in this session.
func (m memory) runs(s *state, p int) bool {
	return m.at == atWork && m.in(s, p)
}

// in says whether the controller has given the task to this session.
func (m memory) in(s *state, p int) bool {
	return int(m.pid) == p+1 && m.start == s.sessions[p].start
}
