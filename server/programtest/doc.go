// Package programtest builds pgtaskd and runs it for tests that look at the whole program: its
// output and how it ends. Any goroutine may call its functions, but those that take a testing.T
// only the test's own.
package programtest
