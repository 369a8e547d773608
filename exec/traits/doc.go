// Package traits reads the input of a task without a server, and tells what it may do: whether it
// can run in a transaction, whether it reads from us, whether it only reads.
//
// Examine has an examiner go through the tokens of a lexer, statement by statement. All functions
// may be called from anywhere.
package traits
