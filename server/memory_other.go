//go:build !linux

package server

// inMemory is a folder in memory: elsewhere than on Linux none is known.
func inMemory() (dir string, ok bool) { return "", false }
