// Command bench measures pgtaskd beside pgbench on a throw-away server of its own, and prints one
// table.
//
// docs/performance.md explains the figures. It is a module of its own, so that the program does not
// depend on River. It builds the program that it measures in the
// program's own module, with the dependencies that users get, and runs it as a process. rows.go
// lists the rows of the table.
//
// The goroutine of main makes one measurement after the other. Others only wait for processes.
// There are no locks.
package main
