// Package traits reads the input of a task without a server, and finds out what the input may do:
// run in a transaction, read from us, only read, and so on.
//
// Examine is the entry. Its examiner reads the tokens of a lexer, statement by statement. Any
// goroutine may call all functions.
package traits
