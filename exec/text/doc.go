// Package text turns what a server says into the texts of a task's row: Output the rows and tags,
// Notices the notices, Failure the error. Every text is valid UTF-8 without NUL, and has a limit.
//
// An Output and Notices belong to the goroutine that reads the server's messages. The functions may
// be called from anywhere.
package text
