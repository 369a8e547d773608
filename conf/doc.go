// Package conf reads the configuration file and serves its targets: one loop for each.
//
// Parse turns JSON into targets. It reports every fault with its line, column and path.
//
// Run serves the targets of a file, RunTargets those of its caller: main for a connection string,
// the demo and the tests. Both supervise the loops. They compare the wanted targets with the
// running loops, start new ones, pass on a change that needs no drain, and drain a target that was
// removed or changed otherwise. A table never has two loops: the next one starts when the last one
// has ended.
//
// The goroutine that calls Run or RunTargets owns the supervisor and all its fields. Each loop has
// its own goroutine, which reports its end through a channel. There are no locks.
package conf
