//go:build unix

package exec

import (
	"errors"
	"syscall"
)

// waits tells whether something waits in a socket that does not block: bytes, an end or an error.
func waits(fd uintptr) bool {
	_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
	return !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
}
