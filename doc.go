// Command pgtaskd serves tables of SQL tasks in PostgreSQL.
//
// This package has the commands and their flags, the signals, and the log; the packages below it do
// the work. run parses a command line and runs the command until it ends; main and the tests call
// it. One goroutine waits for signals: the first closes a channel, and targets drain; the second
// ends the context.
//
// docs/architecture.md shows the packages, and the way of a task through them.
package main
