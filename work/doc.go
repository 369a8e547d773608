// Package work serves one target: one task table, under one role. It makes the rooms below it,
// connects them, and calls each in turn. docs/architecture.md lists the rooms. No room imports this
// package.
//
// Package conf calls Serve once for each target, on a goroutine of its own. Serve leads the target
// or stands by, and tries again after a failure (serve.go). It makes one loop after another. A loop
// (loop.go) is a list of duties; it does them in rounds and sleeps between rounds (duties.go). The
// leader (leader.go) has the part that only a leading controller needs. Both use shared, which
// outlasts terms. main calls Check, which changes nothing.
//
// Goroutines of a target: the loop is the goroutine that called Serve. It owns the control
// connection, and all fields of loop, leader and shared that are not marked for any goroutine.
// Runners belong to package run. The ledger writes on its own connection while the loop goes on.
// The stream reads the write-ahead log. All of them belong to the crew of one loop, and Serve
// awaits them before it makes the next loop.
//
// Data goes down by calls. The only way up to the loop is the inbox, which runners see as a
// run.Leader.
//
// This package has no locks; rooms that have one document it. Only the ledger holds a lock across a
// statement.
package work
