// Package major has the table of what servers have only since some major of PostgreSQL. The
// program, the hints that it prints and the tests all read it; nothing else compares versions. It
// has no state; any goroutine may call it.
package major
