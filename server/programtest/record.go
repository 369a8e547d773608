package programtest

import (
	"bytes"
	"sync"
)

// Record keeps the output of a program, and tells those who wait that there is more.
type Record struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newRecord() *Record { return &Record{more: make(chan struct{})} }

// Write adds to it.
func (r *Record) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.more)
	r.more = make(chan struct{})
	return r.text.Write(text)
}

// String is all that was written.
func (r *Record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// Grown is closed when more is written than there is now.
func (r *Record) Grown() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.more
}
