// Package smoke tests the built program from outside, as the contract describes it: the program
// serves real tables, and the tests are users who know only SQL, the command line and signals.
//
// The tests build the program, or use the one that PGTASKD names. Those with the build tag slow
// take minutes.
package smoke
