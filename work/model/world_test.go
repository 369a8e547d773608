package model

import (
	"fmt"
	"strings"
)

// kind is what decides how a task runs.
type kind uint8

const (
	writes kind = iota // exactly once: the end is in its own transaction
	reads              // commits first; the completer writes the end
	once               // rerun = false, with effects outside its transaction
)

type task struct {
	kind kind
	lane int // each lane has max 0: one run at a time
}

// mishap is what may go wrong in a case.
type mishap uint8

const (
	crash  mishap = 1 << iota // the server crashes
	freeze                    // a controller freezes
	cut                       // a connection breaks

	// These count as actions of users.
	edit    // somebody edits, STOPs or DELETEs a row, or sets it to PLAN
	drain   // the leader drains
	foreign // somebody gets the pid of a session of ours

	all = crash | freeze | cut | edit | drain | foreign
)

// world is one case: its tasks, what may go wrong in it, how often, and which rules are left out.
type world struct {
	tasks   []task
	mishaps mishap
	faults  uint8
	users   uint8 // actions of users
	without [rules]bool
}

// String names the case: w, r and o for its tasks, a bar between lanes.
func (w world) String() string {
	var name strings.Builder
	for t, task := range w.tasks {
		if t > 0 && task.lane != w.tasks[t-1].lane {
			name.WriteByte('|')
		}
		name.WriteByte("wro"[task.kind])
	}
	return fmt.Sprintf("%s, %d faults, %d users", name.String(), w.faults, w.users)
}

func (w *world) holds(r rule) bool { return !w.without[r] }

func (w *world) may(m mishap) bool { return w.mishaps&m > 0 }

// begin: the first controller leads, the second stands by, and all tasks wait.
func (w *world) begin() state {
	s := state{faults: w.faults, users: w.users, lock: 1}
	for t, task := range w.tasks {
		s.table[t] = row{state: plan, xmin: 1}
		if task.kind == once {
			s.asked[t] = 1
		}
	}
	s.disk = s.table
	for c := range s.controllers {
		s.controllers[c].alive, s.controllers[c].linked = true, true
	}
	s.controllers[0].role = leader
	return s
}

// next lists all that can happen in a state.
func (w *world) next(s *state, to moves) {
	w.server(s, to)
	for p := range s.sessions {
		w.session(s, p, to)
	}
	for c := range s.controllers {
		if s.controllers[c].frozen {
			continue
		}
		w.leader(s, c, to)
		w.follower(s, c, to)
		w.completer(s, c, to)
		w.reaper(s, c, to)
		w.drains(s, c, to)
	}
	w.user(s, to)
	w.fault(s, to)
}
