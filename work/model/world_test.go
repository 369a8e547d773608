package model

import (
	"fmt"
	"strings"
)

// kind decides how a task runs.
type kind uint8

const (
	writes kind = iota // has a transaction id: PREPARE, COMMIT, END
	reads              // has none: COMMIT, END
	once               // rerun = false: MARK comes first; has a transaction id
	remote             // its transaction is on the remote; MARK comes first
)

type task struct {
	kind  kind
	lane  int // each lane has max 0: one run at a time
	after int // the task (+ 1) that must have ended; 0: none
}

// mishap is a kind of trouble that a case allows.
type mishap uint16

const (
	crash    mishap = 1 << iota // the local server crashes
	freeze                      // a controller freezes
	cut                         // a connection breaks
	kill                        // somebody terminates a session, or COMMIT is refused
	farCrash                    // the remote crashes
	failover                    // the remote fails over to an asynchronous standby
	farDown                     // the remote cannot be reached for a while

	// These count as actions of users.
	edit     // somebody edits, STOPs or DELETEs a row, or sets it to PLAN
	drain    // the leader drains
	foreign  // somebody gets the pid of one of our sessions
	stranger // somebody else commits a transaction

	faults   = crash | freeze | cut | kill
	all      = faults | edit | drain | foreign | stranger
	farFails = farCrash | failover
)

var mishapNames = []string{
	"crash", "freeze", "cut", "kill", "far crash", "failover", "far down",
	"edit", "drain", "foreign", "stranger",
}

// world is one case: its tasks, the trouble in it and how often it comes, and the rules left out.
type world struct {
	tasks   []task
	mishaps mishap
	faults  uint8
	users   uint8 // actions of users
	without [rules]bool
}

// String names the case: w, r, o and m for its tasks, a bar between lanes, >1 for a task that
// follows the first one.
func (w world) String() string {
	var name strings.Builder
	for t, task := range w.tasks {
		if t > 0 && task.lane != w.tasks[t-1].lane {
			name.WriteByte('|')
		}
		if task.after > 0 {
			fmt.Fprintf(&name, ">%d", task.after)
		}
		name.WriteByte("wrom"[task.kind])
	}
	return fmt.Sprintf("%s, %d faults, %d users, %s", name.String(), w.faults, w.users, w.mishaps)
}

func (m mishap) String() string {
	var names []string
	for i, name := range mishapNames {
		if m>>i&1 > 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}

func (w *world) holds(r rule) bool { return !w.without[r] }

func (w *world) may(m mishap) bool { return w.mishaps&m > 0 }

func (w *world) far(t int) bool { return w.tasks[t].kind == remote }

// anyFar says whether a task of this case runs on the remote.
func (w *world) anyFar() bool {
	for t := range w.tasks {
		if w.far(t) {
			return true
		}
	}
	return false
}

// hasXact says whether the task writes, so that its transaction has an id.
func (w *world) hasXact(t int) bool { return w.tasks[t].kind != reads }

// markedFirst says whether the task is marked before it starts.
func (w *world) markedFirst(t int) bool {
	k := w.tasks[t].kind
	return k == once && w.holds(markFirst) || k == remote && w.holds(remoteMarkFirst)
}

// local: the task runs on the local server and is repeated after an interruption. It is marked only
// when it runs for long.
func (w *world) local(t int) bool { return w.tasks[t].kind == writes || w.tasks[t].kind == reads }

// begin: the first controller leads, the second stands by, and all tasks wait.
func (w *world) begin() state {
	s := state{faults: w.faults, users: w.users, lock: 1}
	for t, task := range w.tasks {
		s.table.rows[t] = row{state: plan, xmin: 1}
		if task.kind == once {
			s.asked[t] = 1
		}
	}
	s.table.x.next, s.far.x.next = 1, 1
	s.disk, s.farDisk = s.table, s.far
	for c := range s.controllers {
		s.controllers[c].alive, s.controllers[c].linked = true, true
	}
	s.controllers[0].role = leader
	return s
}

// next lists everything that can happen in a state.
func (w *world) next(s *state, to moves) {
	w.server(s, to)
	w.remote(s, to)
	for p := range s.sessions {
		w.session(s, p, to)
	}
	for c := range s.controllers {
		if s.controllers[c].frozen {
			continue
		}
		w.leader(s, c, to)
		w.follower(s, c, to)
		w.ledger(s, c, to)
		w.judges(s, c, to)
		w.drains(s, c, to)
	}
	w.user(s, to)
	w.fault(s, to)
}
