// Package servertest gives tests a real PostgreSQL: one server for all tests of a package, a
// database for each test.
//
// Main runs the tests of a package, stops the shared server, and fails when a goroutine is left
// behind. Database makes a database and drops it when the test ends. New starts a server that
// belongs to one test, for tests that stop it, change its settings or create roles.
//
// All functions may be called from parallel tests. Settings suit tests: no fsync, logical WAL.
package servertest
