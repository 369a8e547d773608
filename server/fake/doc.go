// Package fake is a server that speaks as much of the protocol as a session of pgtaskd needs, and
// says in each exchange what a test wants instead. It runs no SQL.
//
// Tests and fuzz tests of exec, work and attack use it for what no PostgreSQL does: answers that
// are too long, out of order, or malformed. Each connection is served on a goroutine of its own,
// which Stop awaits. A test's function is called on that goroutine.
package fake
