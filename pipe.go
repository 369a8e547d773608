package main

import (
	"os"
	"os/signal"
	"syscall"
)

// ignorePipe keeps the program alive when the reader of its log goes away: without it, a write to a
// closed standard output or error ends the process. Writes fail instead, and their lines are lost.
func ignorePipe() (release func()) {
	broken := make(chan os.Signal, 1) // never read: the writer gets the error
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}
