package ask

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"text/tabwriter"
)

// Screen receives the answers. Every text of a table passes Visible before a terminal gets it.
type Screen struct {
	Out      io.Writer           // lines for people
	Objects  io.Writer           // JSON, one object a line; nil: people read
	Err      io.Writer           // remarks for people
	Visible  func(string) string // makes a text safe for a terminal, in one line
	Terminal bool                // Err is a terminal: long work shows its progress there

	mu    sync.Mutex
	shown bool // progress is on the terminal now
}

// Line writes a line for people. It keeps tabs.
func (s *Screen) Line(format string, args ...any) error {
	return s.write(s.Out, s.plain(fmt.Sprintf(format, args...))+"\n")
}

// Remark writes a line that is not part of the answer.
func (s *Screen) Remark(format string, args ...any) {
	_ = s.write(s.Err, s.plain(fmt.Sprintf(format, args...))+"\n") // an error could be shown nowhere
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

// Table writes rows in aligned columns.
func (s *Screen) Table(rows [][]string) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = s.Visible(cell)
		}
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t")) // b is in memory
	}
	_ = w.Flush()
	return s.write(s.Out, padding.ReplaceAllString(b.String(), "\n"))
}

// padding finds the blanks at the end of a line, before an empty column.
var padding = regexp.MustCompile(` +\n`)

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
