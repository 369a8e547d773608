//go:build !unix

package exec

// waits is not known.
func waits(uintptr) bool { return false }
