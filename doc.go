// Command pgtaskd serves tables of SQL tasks in PostgreSQL.
//
// This package has the commands with their flags, the signals, and the log. The packages below it
// do the work: docs/architecture.md shows them, and the way of a task through them.
//
// main and the tests call run, which parses a command line and runs the command until it ends. One
// goroutine waits for signals: at the first, targets drain; at the second, everything ends at once.
package main
