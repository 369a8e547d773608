package model

// The largest case. A state has a fixed size, so that states can be compared.
const (
	maxTasks    = 3
	maxSessions = 2
)

// state is everything that the actors share, and everything that each of them remembers.
type state struct {
	table    table  // on the local server
	disk     table  // the local table as a crash would leave it
	far      far    // on the remote server
	farDisk  far    // the remote as a crash, or its failover, would leave it
	timeline uint8  // of the remote: each failover begins a new one
	down     bool   // the remote cannot be reached
	asked    counts // how often a task with rerun = false may still start

	sessions    [maxSessions]session
	register    [maxSessions]uint8 // by pid: the backend_start that is registered; 0: none
	controllers [2]controller
	lock        uint8 // controller + 1 whose control session holds the lock
	faults      uint8 // faults that may still happen
	users       uint8 // actions of users that may still happen
	broken      property
}

type counts [maxTasks]uint8

// table is everything that the log of the local server holds.
type table struct {
	rows    [maxTasks]row
	x       xids
	effects effects
}

// far is everything that the log of the remote server holds.
type far struct {
	x       xids
	effects effects
}

// row is one task. Each UPDATE gives it the next xmin. If a crash forgets an UPDATE, the same xmin
// is handed out again.
type row struct {
	state      rowState
	xmin       uint8
	pid, start uint8 // the backend of a marked run: session + 1, backend_start
	xact       uint8 // the transaction of a prepared run; 0: none
	timeline   uint8 // of the remote, at PREPARE

	stopping bool  // somebody has set STOP since the row was prepared
	ends     uint8 // ends written since a user last asked for the task
	request  uint8 // the user's action that asked for the task
	version  uint8 // the user's action that last changed the row
}

type rowState uint8

const (
	gone rowState = iota // deleted, or no such task in this case
	plan
	work
	done
	fail
	stop
	unknown // FAIL, as nobody can tell whether its transaction has committed
)

func (s *state) row(t int) *row { return &s.table.rows[t] }

// isOwner says whether the session that has this pid now is the one that the row names.
func (s *state) isOwner(r row, pid int) bool {
	return int(r.pid) == pid+1 && r.start == s.sessions[pid].start
}

// lives says whether a backend with this pid and start exists.
func (s *state) lives(pid, start uint8) bool {
	return pid > 0 && s.sessions[pid-1].alive && s.sessions[pid-1].start == start
}

// write ends a row, or gives it back.
func (w *world) write(r *row, to rowState) {
	r.state, r.pid, r.start = to, 0, 0
	if w.holds(xactCleared) {
		r.xact, r.timeline = 0, 0
	}
	r.stopping = false
	r.xmin++
	if to != plan && to != stop {
		r.ends++
	}
}
