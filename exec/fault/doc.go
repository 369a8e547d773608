// Package fault tells the errors of our own statements apart: what each means for what is to be done
// next is one value, its Class, and one table says which error has which. What to do about an error is
// a hint, for the person who reads the log.
//
// All of it is pure; any goroutine may call it.
package fault
