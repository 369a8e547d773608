//go:build !linux

package server

// inMemory knows no folder in memory outside of Linux.
func inMemory() (dir string, ok bool) { return "", false }
