// Command bench compares pgtaskd with pgbench on its own throw-away server, and prints one table.
//
// docs/performance.md explains the figures; rows.go lists the rows of the table. bench is a
// separate Go module, so that pgtaskd does not depend on River. It builds pgtaskd in pgtaskd's own
// module, with the dependencies that users get, and runs it as a process.
//
// The main goroutine makes one measurement after the other. Other goroutines only wait for
// processes. There are no locks.
package main
