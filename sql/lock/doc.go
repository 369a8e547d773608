// Package lock has the advisory locks by which controllers understand each other, and knows who
// holds those, or locks on a table. A connection belongs to one goroutine.
package lock
