// Package server starts throw-away PostgreSQL servers from the installed binaries: for the tests,
// the demo and the benchmark.
//
// A server lives in a temporary folder of its own, can be reached only from this machine, and is
// gone, folder and all, after Stop or when the program that started it dies in whatever way: a
// guard process watches a pipe. install.sh installs PostgreSQL where a package manager can.
//
// The methods of Server may be called from any goroutine.
//
// Locks: Server.mu guards the process. It is held while the server stops, crashes or restarts, so
// these wait for each other.
package server
