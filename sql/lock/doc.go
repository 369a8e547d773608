// Package lock has the advisory locks that controllers share, and tells who holds these, or locks
// on a table. A connection belongs to one goroutine.
package lock
