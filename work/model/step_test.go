package model

import (
	"fmt"
	"strings"
)

// step leads from one state to the next.
type step struct {
	actor, verb      string
	controller, task int
	pid              int
	healthy          bool // it happens sooner or later
}

// none stands for a controller, a task or a session that a step does not name.
const none = -1

// will is a step that happens sooner or later.
func will(actor string, controller int, verb string, task, pid int) step {
	return step{actor: actor, controller: controller, verb: verb, task: task, pid: pid, healthy: true}
}

// might is a step that may never happen.
func might(actor string, controller int, verb string, task, pid int) step {
	return step{actor: actor, controller: controller, verb: verb, task: task, pid: pid}
}

// of names the controller that the step affects.
func (s step) of(c int) step {
	s.verb += " " + name(c)
	return s
}

func name(c int) string { return string(rune('A' + c)) }

func (s step) String() string {
	words := []string{s.actor}
	if s.controller != none {
		words = append(words, name(s.controller))
	}
	words = append(words, s.verb)
	if s.task != none {
		words = append(words, fmt.Sprint("task ", s.task+1))
	}
	if s.pid != none {
		words = append(words, fmt.Sprint("session ", s.pid+1))
	}
	return strings.Join(words, " ")
}

// moves collects the states that may follow a state.
type moves interface {
	add(step, state)
}
