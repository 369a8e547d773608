// Package lock has the advisory locks that controllers share. It also finds the sessions that hold
// these locks, or locks on a table. A connection belongs to one goroutine.
package lock
