//go:build !slow

package servertest

// Thorough tells whether the longest tests try all their cases, or only some.
const Thorough = false
