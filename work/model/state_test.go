package model

// The largest case. A state has a fixed size, so that it can be the key of a map.
const (
	maxTasks    = 3
	maxSessions = 2
)

// state is everything that the actors share, and what each of them remembers.
type state struct {
	table       table
	disk        table           // the table as a crash of the server would leave it
	asked       [maxTasks]uint8 // how often a task of rerun = false may still start
	sessions    [maxSessions]session
	register    [maxSessions]uint8 // by pid: the backend_start that is registered; 0: none
	controllers [2]controller
	lock        uint8 // controller + 1 whose control session holds the lock
	faults      uint8 // that may still happen
	users       uint8 // actions of users that may still happen
	broken      property
}

type table [maxTasks]row

// row is one task. An UPDATE gives it the next xmin. A crash that forgets an UPDATE hands the same
// xmin out again.
type row struct {
	state      rowState
	xmin       uint8
	pid, start uint8 // the backend of a marked run: session + 1, backend_start
	version    uint8 // which action of a user has made the row what it is; never handed out again
	effects    uint8 // committed since a user has asked for the task
}

type rowState uint8

const (
	gone rowState = iota // deleted, or no such task in this case
	plan
	work
	done
	fail
	stop
)

// session is a backend on which tasks run. Its place in state.sessions is its pid, which the
// server hands out again.
type session struct {
	alive  bool
	linked bool // its client still has the connection
	owner  uint8
	start  uint8 // backend_start
	// trusted: a round trip on the control connection has passed since the session was ready.
	trusted bool
	dying   bool // pg_terminate_backend has been called
	run     run
	behind  run // sent behind it, not begun
}

// run is a task as it was sent to a session.
type run struct {
	phase   phase
	task    uint8
	xmin    uint8 // of the row as it was read
	version uint8
	shown   bool // the mark was answered before the run was sent
}

type phase uint8

const (
	idle    phase = iota
	sent          // in flight to the server
	running       // its SQL runs, or is over and its transaction waits for the end
	ending        // the end is in flight to the server
)

// somebody owns the sessions that belong to nobody of us.
const somebody = 2

// controller is one process: the backend of its control connection, and its memory.
type controller struct {
	role   role
	frozen bool
	stuck  bool // frozen, and its control session waits in ClientWrite or in a transaction
	alive  bool // the backend of the control connection
	linked bool // our end of it
	// completer: the connection on which the completer writes is registered.
	completer bool
	tasks     [maxTasks]memory
	spared    [maxSessions]spared // by pid: what ran marked there at takeover
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
	drained  // has given the lead away, finishes what it has marked
)

// memory is what a controller knows of a task.
type memory struct {
	at         knows
	mark       mark
	xmin       uint8
	version    uint8
	pid, start uint8
}

type knows uint8

const (
	nothing  knows = iota
	ready          // read, not sent
	marking        // marked before it starts; not sent
	atWork         // sent to a session
	outcome        // committed; the completer has to write its end
	inFlight       // the end is in flight on the completer's connection
)

type mark uint8

const (
	unmarked mark = iota
	asked         // sent, no answer yet
	marked
	refused // the mark has found no row
)

func (c *controller) leads() bool { return c.role == leader || c.role == draining }

// controls says whether a statement on the control connection is executed and answered.
func (c *controller) controls() bool { return c.alive && c.linked }

// lives says whether a backend with this pid and start exists.
func (s *state) lives(pid, start uint8) bool {
	return pid > 0 && s.sessions[pid-1].alive && s.sessions[pid-1].start == start
}

// isOwner says whether the session that has this pid now is the one that the row names.
func (s *state) isOwner(r row, pid int) bool {
	return int(r.pid) == pid+1 && r.start == s.sessions[pid].start
}
