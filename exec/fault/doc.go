// Package fault tells the errors of our own statements apart: what each means for what is to be
// done next is one value, its Class, and one table says which error has which. A hint tells the
// person who reads the log what to do about an error.
//
// All of it is pure; any goroutine may call it.
package fault
