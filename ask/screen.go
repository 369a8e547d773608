package ask

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"pgtaskd/human"
)

// Screen receives the answers. Every text of a table passes Visible before a terminal gets it.
type Screen struct {
	Out      io.Writer           // lines for people
	Objects  io.Writer           // JSON, one object a line; nil: people read
	Err      io.Writer           // remarks for people
	Visible  func(string) string // makes a text safe for a terminal, in one line
	Terminal bool                // Err is a terminal: long work shows its progress there
	Width    int                 // of lines for people; 0: any

	mu    sync.Mutex
	shown bool // progress is on the terminal now
}

// Line writes a line for people. It keeps tabs.
func (s *Screen) Line(format string, args ...any) error {
	return s.write(s.Out, s.plain(fmt.Sprintf(format, args...))+"\n")
}

// Remark writes a line that is not part of the answer, on a terminal as lines of its width.
func (s *Screen) Remark(format string, args ...any) {
	text := s.plain(fmt.Sprintf(format, args...))
	if s.Terminal && s.Width > 0 {
		text = strings.Join(human.Wrap(text, s.Width, len(text)+1), "\n")
	}
	_ = s.write(s.Err, text+"\n") // an error could be shown nowhere
}

// Object writes a value as a line of JSON.
func (s *Screen) Object(value any) error {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	return s.write(s.Objects, b.String())
}

// narrowed is a column of a table that becomes narrower if the lines are too long.
type narrowed struct {
	column int
	least  int // 0: it may disappear
}

// Table writes rows in aligned columns. If the lines are too long, the given columns become
// narrower, in this order; then the lines are cut. Without such columns they stay as they are.
func (s *Screen) Table(rows [][]string, narrow ...narrowed) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			row[i] = s.Visible(cell)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], human.Width(row[i]))
		}
	}
	if s.Width > 0 {
		fit(widths, s.Width, narrow)
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			if widths[i] > 0 {
				cell = human.Cut(cell, widths[i])
				line += cell + strings.Repeat(" ", widths[i]-human.Width(cell)+gap)
			}
		}
		line = strings.TrimRight(line, " ")
		if len(narrow) > 0 {
			line = s.cut(line)
		}
		b.WriteString(line + "\n")
	}
	return s.write(s.Out, b.String())
}

const (
	gap    = 2 // between columns
	useful = 8 // the least width of a column that may disappear
)

// fit makes columns narrower until a line has this width.
func fit(widths []int, width int, narrow []narrowed) {
	excess := -gap - width
	for _, w := range widths {
		excess += w + gap
	}
	for _, n := range narrow {
		was := widths[n.column]
		now := min(was, max(was-max(excess, 0), n.least))
		if n.least == 0 && now < min(was, useful) {
			now, excess = 0, excess-gap
		}
		widths[n.column], excess = now, excess-(was-now)
	}
}

// item writes a text as a line of a list, or as some lines if the screen is too narrow.
func (s *Screen) item(text string) error {
	lines := []string{s.Visible(text)}
	if s.Width > 0 {
		lines = human.Wrap(lines[0], max(s.Width-len(indent), 1), itemLines)
	}
	return s.write(s.Out, indent+strings.Join(lines, "\n"+indent)+"\n")
}

const (
	indent    = "  "
	itemLines = 4
)

// cut shortens a line for people to the width of the screen.
func (s *Screen) cut(line string) string {
	if s.Width == 0 {
		return line
	}
	return human.Cut(line, s.Width)
}

// Progress shows the progress in a line that the next one replaces.
func (s *Screen) Progress(text string) {
	if !s.Terminal {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprint(s.Err, "\r\x1b[K", s.Visible(text)) // an error could be shown nowhere
	s.shown = true
}

// Clear removes the progress.
func (s *Screen) Clear() { _ = s.write(io.Discard, "") }

func (s *Screen) write(out io.Writer, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown {
		_, _ = fmt.Fprint(s.Err, "\r\x1b[K")
		s.shown = false
	}
	_, err := io.WriteString(out, text)
	return err
}

// plain makes a line safe for a terminal.
func (s *Screen) plain(line string) string {
	parts := strings.Split(line, "\t")
	for i, part := range parts {
		parts[i] = s.Visible(part)
	}
	return strings.Join(parts, "\t")
}
