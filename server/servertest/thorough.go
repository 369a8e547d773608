//go:build slow

package servertest

// Thorough tells that all cases of the longest tests are tried, and not a few of them.
const Thorough = true
