// Package smoke tries the contract's examples from outside: the built program serves real tables,
// and the tests are its users, who know nothing but SQL, the command line and signals.
//
// The tests build the program, or use the one that PGTASKD names. Those with the build tag slow
// take minutes.
package smoke
