// Package servertest gives tests a real PostgreSQL: one server for all tests of a package, a
// database for each test, and connections to it.
//
// Main runs the tests of a package, stops the shared server, and fails when a goroutine is left
// over. Database makes a database and drops it when the test ends. New starts a server that belongs
// to one test, for tests that stop it, change its settings or create roles. Tests use a database by
// Connect, Exec, Get, Values and Rows; Wait and Comes wait for a condition. Package tasktest does
// the same for a table of tasks.
//
// All functions may be called from parallel tests; those that take a testing.TB only from the
// goroutine of the test. Settings suit tests: no fsync, logical WAL.
package servertest
