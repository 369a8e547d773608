// Package work serves one target: one task table, for one role. It makes the rooms below it, and
// gives each its turn. docs/architecture.md lists the rooms; none of them knows this package.
//
// Package conf calls Serve once for each target, on a goroutine of its own. Serve leads the target
// or stands by, and tries again by itself when something fails (serve.go). It makes one loop after
// the other: a loop (loop.go) is a list of duties, done in rounds with sleep between them
// (duties.go). A leader (leader.go) does what only a controller does that leads. What both need is
// in shared, and outlasts terms. main calls Check, which changes nothing.
//
// Goroutines of a target: the loop, which is the caller of Serve, owns the control connection and
// all fields of loop, leader and shared that are not said to be for any goroutine. Runners are
// those of package run. The ledger writes on a connection of its own while the loop goes on. The
// stream reads the write-ahead log. All belong to the crew of one loop; Serve awaits them before it
// makes the next.
//
// Data goes down by calls; the only way back up to the loop is the inbox, which runners see as a
// run.Leader.
//
// There are no locks here; the rooms name theirs. Only the ledger holds one across a statement.
package work
