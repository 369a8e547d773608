// Package install creates, completes and checks a task table and the objects beside it. It also
// creates a missing database or role. It looks at the door before and after, and notices when the
// table changes later.
//
// A look returns a value, Found: a description of the table, the possible way of waking, and the
// search_path with which rows are written. A Table belongs to the goroutine of Serve. Any goroutine
// may call Check, which changes nothing, and Admit.
package install
