// Package text makes the texts of a task's row from the server's messages: Output makes the
// results, Notices the notices, Failure the error. Every text has a limit, and is valid UTF-8
// without NUL.
//
// An Output and Notices belong to the goroutine that reads the server's messages. Any goroutine may
// call the functions.
package text
