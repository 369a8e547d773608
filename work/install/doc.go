// Package install makes, completes and checks a task table and what stands beside it, looks at the
// door before and after, and knows what the table is like and whether it has changed since. Missing
// databases and roles are created too.
//
// What is found goes out as a value, Found: what the table is like, which way of waking is
// possible, by which path rows are written. A Table belongs to the goroutine of Serve. Any
// goroutine may call Check, which changes nothing, and Admit.
package install
