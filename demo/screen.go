package demo

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/rivo/uniseg"
)

const (
	keptLines = 500 // more than a terminal has
	leastRows = 4   // fewer are no use: then lines scroll
)

// Screen is a terminal. Once its first lines are pinned, they stay at the top; below are as many of
// the newest lines as fit, and how many came before. Any goroutine may write whole lines.
type Screen struct {
	out  io.Writer
	size func() (width, height int)

	mu     sync.Mutex
	head   []string // nil: not pinned
	lines  []string // the newest
	before int      // lines that are no longer in lines
}

// NewScreen returns a screen for a terminal.
func NewScreen(out io.Writer, size func() (width, height int)) *Screen {
	return &Screen{out: out, size: size}
}

// pin keeps what was written at the top.
func (s *Screen) pin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, height := s.size()
	s.head, s.lines = s.lines, nil
	fmt.Fprint(s.out, strings.Repeat("\n", height)) // what was there before can be scrolled back to
	s.draw()
}

// Write shows one or more lines.
func (s *Screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
	if more := len(s.lines) - keptLines; more > 0 {
		s.lines = s.lines[more:]
		s.before += more
	}
	if s.head != nil && s.draw() {
		return len(text), nil
	}
	return s.out.Write(text)
}

// draw writes everything at its place, unless there is too little room.
func (s *Screen) draw() bool {
	width, height := s.size()
	rows := func(line string) int { return max(1, (uniseg.StringWidth(line)+width-1)/max(1, width)) }
	room := height - 2 // for the line that counts, and the cursor
	for _, line := range s.head {
		room -= rows(line)
	}
	if room < leastRows {
		return false
	}
	from := len(s.lines)
	for from > 0 && room >= rows(s.lines[from-1]) {
		from--
		room -= rows(s.lines[from])
	}
	shown := slices.Clone(s.head)
	if before := s.before + from; before > 0 {
		shown = append(shown, fmt.Sprintf("… and %d more lines before these", before))
	}
	_, err := fmt.Fprintf(s.out, "\x1b[H\x1b[J%s\n", strings.Join(append(shown, s.lines[from:]...), "\n"))
	return err == nil
}
