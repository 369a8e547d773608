// Package model is a specification of the protocol between controllers, their sessions, the task
// table and the people who change its rows. Its tests visit every state of small cases, breadth
// first. It talks to no database, nothing imports it, and all of it but this comment is test code.
//
// # How to read it
//
// A state (state_test.go) is the table, the table as a crash would leave it, the register of
// sessions, the sessions, and what each of two controllers remembers. Each actor has a file that
// lists the steps it can take in a state:
//
//	leader_test.go     reads what is due, opens and registers sessions, marks what runs long
//	dispatch_test.go   hands a ready task to a session, or marks it before it starts
//	session_test.go    the backend of a session: begins, commits, executes the end of a task
//	completer_test.go  writes ends that are not in the transaction of their task
//	takeover_test.go   a follower becomes the leader; a leader learns that its term is over
//	reaper_test.go     finds what was cut off, ends sessions that nobody attends to
//	drain_test.go      a leader gives the lead away and finishes what it runs
//	server_test.go     executes marks and the unlock, ends idle control sessions, crashes
//	user_test.go       people edit, STOP and DELETE rows and set them to PLAN
//	fault_test.go      freezes, crashes, connections that break
//
// A message is sent in one step and executed in another, and anything may happen between the two,
// so it may be late, or lost with its connection. A frozen controller takes no step until it thaws,
// if ever; what it has sent stays in flight. Everything that another session or a user commits may
// be forgotten by a crash of the server, which then hands the same xmin out again. Only the mark of
// rerun = false waits for the disk. An answer that is lost is a connection that breaks after the
// message was executed. What is sent again on another connection is the completer's end; that a
// mark is never sent again is a rule. These steps are one step each, since no state between sending
// and executing them differs from one in which they are not yet sent or are executed: the lock, the
// reads of a takeover, terminate, register. They run on the control connection, under the lock, and
// the controller waits for them.
//
// properties_test.go has what must always hold. That each run can end is checked backwards: from
// each state, steps that happen sooner or later must lead to a state in which no task waits or
// runs. Thaws, faults and users are no such steps.
//
// rules_test.go has the rules, with the numbers of the protocol's description where they have one.
// left_out_test.go leaves out each once and expects the check to find what breaks. go test -v
// prints the shortest way there. Three rules are not needed for any property here.
//
// # Bounds
//
// One to three tasks that write (w), read (r) or have rerun = false (o), in one lane or two, each
// of max 0; two controllers; two sessions; one or two faults; one or two actions of users. A drain
// and the reuse of a pid by somebody else count as actions of users. go test -tags slow checks the
// large cases. States that differ only in names of controllers and sessions, or in numbers that are
// only compared, are one (canonical_test.go).
//
// # What it does not express
//
//   - A new session at a pooler, versions of the server without idle limits (rule 6 holds for all),
//     and a target whose role may not make a register (rule 7): sessions are then told by name and
//     age, which depends on what else runs on the server.
//   - Repetitions (rules 9 and 12): a STOP of a group that meets one is a matter of the snapshot of
//     one statement. Tests of package work run that against a server.
//   - Keys (rule 10): an INSERT that is refused changes nothing here.
//   - A task that changes its own row (rule 11): which of the two wins is decided by row locks
//     inside one transaction.
//   - The count of runs and interruptions (rules 12 and 13), suspects, and the delay after a crash:
//     they change when a task starts, not whether it may.
//   - Rows and tables that are locked for long (rule 14): they make a step late, which it may be.
//   - That a changed row is read again before it starts (rule 15) only saves work here. It is
//     needed for effects that leave the database.
//   - Runs with effects outside their transaction that may be repeated: they are marked first, as
//     rerun = false is, and nothing is promised of how often they run.
//   - The death of a controller's process is a freeze without a thaw. The server notices sooner.
//   - Time: limits, deadlines and pauses are steps that happen sooner or later.
package model
