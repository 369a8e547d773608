// Package fake is a server that speaks the part of the protocol that pgtaskd needs, and gives the
// answers that a test wants. It runs no SQL.
//
// Tests and fuzz tests of exec, work and attack use it for answers that PostgreSQL never gives: too
// long, out of order, or malformed. Each connection has its own goroutine, which calls the test's
// function; Stop waits for these goroutines.
package fake
