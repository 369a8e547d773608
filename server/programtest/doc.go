// Package programtest builds the program and runs it for tests that use it from outside: its
// output, its end. Its functions may be called from any goroutine; those that take a testing.T only
// from the test's own.
package programtest
