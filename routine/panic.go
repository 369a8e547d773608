package routine

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"strings"
	"unicode/utf8"
)

// Panic is a panic as an error.
type Panic struct {
	Value string // at most 1 kB of it
	Stack []byte // of the goroutine, at most 16 kB of it
}

const (
	valueLimit = 1 << 10
	stackLimit = 16 << 10
)

func (p *Panic) Error() string { return "panic: " + p.Value }

// Guard does something, and makes an error of its panic.
func Guard(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = caught(value)
		}
	}()
	return do()
}

// caught keeps what recover has returned, with the stack of the panic, under which it must be
// called.
func caught(value any) *Panic {
	text := strings.ToValidUTF8(fmt.Sprint(value), string(utf8.RuneError))
	text = strings.ToValidUTF8(text[:min(len(text), valueLimit)], "")
	stack := debug.Stack()
	return &Panic{Value: text, Stack: bytes.Clone(stack[:min(len(stack), stackLimit)])}
}
