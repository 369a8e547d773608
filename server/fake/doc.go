// Package fake is a server that speaks as much of the protocol as a session of pgtaskd needs, and
// answers in each exchange as a test wants. It runs no SQL.
//
// Tests and fuzz tests of exec, work and attack use it for answers that no PostgreSQL gives: too
// long, out of order, or malformed. Each connection is served on a goroutine of its own, which Stop
// awaits. A test's function is called on that goroutine.
package fake
