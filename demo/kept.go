package demo

import (
	"io"
	"sync"
)

// mostKept bounds the lines of the log that are kept back.
const mostKept = 100

// kept is a log that would disturb the screen, kept back until that is closed. The controller's
// goroutines write it.
type kept struct {
	out io.Writer

	mu    sync.Mutex
	lines [][]byte // each Write is one
}

func (k *kept) Write(line []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.lines) < mostKept {
		k.lines = append(k.lines, append([]byte(nil), line...))
	}
	return len(line), nil
}

// last is the line that was logged last, if any.
func (k *kept) last() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.lines) == 0 {
		return ""
	}
	return string(k.lines[len(k.lines)-1])
}

// release writes the lines that were kept back.
func (k *kept) release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, line := range k.lines {
		_, _ = k.out.Write(line)
	}
	k.lines = nil
}
