// Package fault sorts the errors of our own statements into classes. A Class says what the program
// does next after an error; one table maps errors to classes. A hint tells the person who reads the
// log what to do about an error.
//
// All functions are pure; any goroutine may call them.
package fault
