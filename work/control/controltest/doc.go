// Package controltest opens control connections for tests of packages that need one but no loop.
package controltest
