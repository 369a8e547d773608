// Package routine starts goroutines: each belongs to a group that awaits it, and a panic in one
// ends the group, not the process.
//
// A Group has a context that ends with its parent, at End, and at the first panic, which is its
// cause. Wait returns when all that the group has started has ended. Go, Start and Call run a
// function, After and When run it later. Guard turns a panic of the caller's own goroutine into an error.
//
// Every goroutine of the program is started here; routines_test.go checks that. Any goroutine may
// call the methods of a Group.
//
// Locks: Group.mu guards the first panic, and is held for a moment only.
package routine
