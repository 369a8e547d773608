// Package routine starts goroutines. Each belongs to a Group, which waits for it. A panic in one
// ends the group, not the process.
//
// The context of a Group ends with its parent, at End, and at the first panic, which becomes its
// cause. Wait returns when all goroutines of the group have ended. Go and Start run a function in a
// new goroutine, Call in the caller's; After and When run it later. Guard turns a panic of the
// caller's own goroutine into an error.
//
// Every goroutine of the program starts here; routines_test.go checks that. Any goroutine may call
// the methods of a Group. Group.mu guards the first panic, and is held only for a moment.
package routine
