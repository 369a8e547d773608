// Package server starts throw-away PostgreSQL servers from the installed binaries, for tests, the
// demo and the benchmark.
//
// Each server has its own temporary folder and can be reached only from this machine. It ends, and
// its folder is removed, after Stop or when the program that started it dies in any way: a guard
// process watches a pipe for that. install.sh installs PostgreSQL if there is a package manager for
// it.
//
// Any goroutine may call the methods of Server.
//
// Locks: Server.mu guards the process. Stop, Crash and Restart hold it until they are done, so one
// waits for the other.
package server
