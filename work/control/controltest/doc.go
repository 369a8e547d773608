// Package controltest opens control connections for tests of the rooms that work on one, without a
// loop.
package controltest
