// Package model is a specification of the protocol between controllers, their sessions, the task
// table and the people who change its rows. Its tests visit every state of small cases, breadth
// first. It talks to no database, and nothing imports it. All code is in test files.
//
// docs/ways.md shows how a run goes through MARK, PREPARE, COMMIT and END. Here the control
// connection carries MARK, and the connection of the ledger carries PREPARE and END. The fence comes
// before the PREPARE of a remote run: a second connection commits on the remote and waits for the
// disk. After that, no crash there can give the id of the run to another transaction.
//
// # How to read it
//
// A state (state_test.go, memory_test.go, xact_test.go) consists of the table, the table as a crash
// would leave it, the register of sessions, the sessions, and the memory of two controllers. Each
// actor has a file of its name that lists the steps it can take in a state. statements_test.go
// executes MARK, PREPARE and END as the server does.
//
// A message is sent in one step and executed in another. Anything may happen between the two: the
// message may be late, or lost with its connection. An answer is lost if the connection breaks
// after the server has executed the message. The controller waits for the lock, the reads of a
// takeover, terminate, register and the fence: each is one step. A frozen controller takes no step
// until it thaws, if ever; its messages stay in flight. A crash of the server may forget everything
// that another session or a user has committed. The server then hands out the same xmin and
// transaction ids again, those of open transactions first. Only the mark of rerun = false and PREPARE
// of a remote task wait for the disk.
//
// Sessions on the remote are not registered, and nobody waits for their end: if one is lost, or its
// controller leads no more, the task starts again at once, and two runs may be at work. Only one of
// them can be prepared. So lane limits hold for local runs only, and a task may start before the run
// of its predecessor is over, if that was deleted while it was prepared on the remote.
//
// properties_test.go has the properties that always hold. Each run can end: from each state, steps
// that happen sooner or later (no thaws, faults or users) lead to a state in which no task waits or
// runs.
//
// rules_test.go has the rules by name, each with a sentence. left_out_test.go leaves out each rule
// once and expects the check to find what breaks; go test -v prints the shortest way there. Five
// rules are not needed for any property here.
//
// # Bounds
//
// A case has one or two tasks that write (w), read (r), have rerun = false (o) or run on a remote
// (m). They are in one lane or two, each of max 0, or one follows the other. There are two
// controllers, two sessions, one or two faults, and one or two actions of users. A drain counts as
// an action of a user; so do the reuse of a pid and a transaction by somebody else. go test -tags
// slow checks the large cases. States count as the same if they differ only in names of controllers
// and sessions, or in numbers that are only compared (canonical_test.go).
//
// # Not expressed
//
//   - Repetitions, on_fail and notify: they are part of the one statement that ends a row, and
//     the model counts that statement. A STOP of a group at that moment depends on its snapshot.
//   - Keys: an INSERT that is refused changes nothing here.
//   - retry, attempt, suspects and the delay after a crash: they change when a task starts, not
//     whether it may start. If COMMIT is refused and may be tried again, the row is given back as
//     the judge does it.
//   - How a session tells its transaction id: no cursor, deferred trigger or setting of the task
//     may make that late or wrong.
//   - A task that changes its own row: row locks decide which of the two changes wins.
//   - A table that refuses PREPARE: the run is rolled back, as if there were no row.
//   - A status that the server no longer knows, since its log is gone; a row that has left its
//     server.
//   - Rows and tables that are locked for long: they make a step late, which it may be.
//   - Effects outside the database. Because of them, a row that has changed is read again before
//     it starts, and runs that are not exactly once are marked first, as with rerun = false.
//     Nothing promises how often they run.
//   - A failover of the local server to an asynchronous standby: then no mark and no PREPARE
//     waits for the disk. markOnDisk and prepareOnDisk show what that breaks.
//   - A remote that crashes before the fence. After the fence, the controller asks whether the session
//     still has its transaction. Here it sends no fence and no PREPARE for a session that is gone.
//   - A run on a remote with rerun = false. Its mark waits for the disk, too.
//   - A pooler, versions of the server without idle limits (endStaleHolder holds for all), and a
//     target whose role may not make a register.
//   - A remote that both crashes and fails over, and a failover that loses nothing.
//   - The death of a controller's process: it is a freeze without a thaw. The server notices it
//     sooner.
//   - Time: limits, deadlines and pauses are steps that happen sooner or later.
package model
