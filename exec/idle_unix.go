//go:build unix

package exec

import (
	"errors"
	"syscall"
)

// waits tells whether a non-blocking socket has something to read: bytes, the end or an error.
func waits(fd uintptr) bool {
	_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
	return !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
}
