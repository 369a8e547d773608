// Package servertest gives tests a real PostgreSQL: one server for all tests of a package, a
// database for each test, and connections to it.
//
// Main runs the tests of a package, stops the shared server, and fails if a goroutine is left over.
// Database makes a database and drops it when the test ends. New starts a server for one test,
// which may stop it, change its settings or create roles. Tests use a database with Connect, Exec,
// Get, Values and Rows; Wait and Comes wait for a condition. Package tasktest does the same for a
// table of tasks.
//
// Parallel tests may call all functions, but those that take a testing.TB only on the test's own
// goroutine. The settings suit tests: no fsync, logical WAL.
package servertest
