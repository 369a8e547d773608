package demo

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rs/zerolog"
	"golang.org/x/term"
)

// Control sequences that every terminal of today understands.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // the alternate screen, without a cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	clearLine   = "\x1b[K"
	clearRest   = "\x1b[J"
	newline     = "\r\n"
)

// Select Graphic Rendition parameters.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	purple = "35"
	cyan   = "36"
)

var colours = map[string]string{
	"PLAN": dim, "WORK": yellow, "DONE": green, "FAIL": red, "GONE": purple, "STOP": purple,
}

// screen is the view of a terminal: a line for each lane, which changes in place.
type screen struct {
	signs
	out    *os.File
	head   heading
	plain  bool // without colours
	kept   *kept
	groups []string // of the lanes, in their order on the screen
	ends   bool
}

func newScreen(out *os.File, err io.Writer, head heading) *screen {
	s := &screen{signs: localeSigns(), out: out, head: head, plain: os.Getenv("NO_COLOR") != ""}
	if isTerminal(err) {
		s.kept = &kept{out: err}
	}
	return s
}

func (s *screen) log(log zerolog.Logger) zerolog.Logger {
	if s.kept == nil {
		return log
	}
	return log.Output(zerolog.ConsoleWriter{Out: s.kept, NoColor: true, TimeFormat: "15:04:05"})
}

func (s *screen) open() { _, _ = s.out.WriteString(enterScreen) }

func (s *screen) ending() { s.ends = true }

func (s *screen) close(h history) {
	_, _ = s.out.WriteString(leaveScreen)
	if s.kept != nil {
		s.kept.release()
	}
	fmt.Fprintf(s.out, "Tasks: %s.\n", h)
}

// show draws the whole screen again, in one write so that it does not flicker.
func (s *screen) show(tasks, _ []task, h history) {
	columns, rows, err := term.GetSize(int(s.out.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		columns, rows = 80, 24
	}
	width := columns - 1 // in the last column a terminal is about to wrap
	all := lanes(tasks, &s.groups)
	lines := []string{s.paint(cyan, s.cut(invitation, width)), "", s.labels(width)}
	commandRows := (textWidth(s.head.command)-1)/columns + 1
	const others = 3 // title, an empty line, foot
	for _, l := range newest(all, rows-len(lines)-commandRows-others) {
		lines = append(lines, s.row(l, width))
	}
	lines = append(lines, "", s.foot(width))

	frame := home + s.title(tasks, h, width) + clearLine + newline + s.command(columns)
	for _, line := range lines {
		frame += newline + line + clearLine
	}
	_, _ = s.out.WriteString(frame + clearRest)
}

// title says how many tasks there are of each kind, at the right end if there is room.
func (s *screen) title(tasks []task, h history, width int) string {
	work, wait := 0, 0
	for _, t := range tasks {
		switch {
		case t.working():
			work++
		case t.state == "PLAN":
			wait++
		}
	}
	left := "pgtaskd demo"
	right := fmt.Sprintf("%d at work, %d waiting, %s", work, wait, h)
	if longer := left + s.dot + "PostgreSQL " + s.head.version; textWidth(longer+right)+2 <= width {
		left = longer
	}
	gap := strings.Repeat(" ", max(width-textWidth(left)-textWidth(right), 2))
	return s.paint(bold, s.cut(left, width)) + s.cut(gap+right, width-textWidth(left))
}

// command is never cut, so that it can be copied. Where it ends in the last column, an erasure
// would take its last letter.
func (s *screen) command(columns int) string {
	text := s.paint(cyan, s.head.command)
	if textWidth(s.head.command)%columns != 0 {
		text += clearLine
	}
	return text
}

func (s *screen) labels(width int) string {
	c := divide(width)
	return s.paint(dim, s.cut(strings.Join([]string{
		s.fit("   ID", c.id), s.fit("STATE", c.state), s.fit("LANE", c.lane), s.fit("ITS TASKS", c.strip),
		s.fit("INPUT", c.input), s.fit("OUTPUT OR ERROR", c.result),
	}, " "), width))
}

// row shows a lane by the task that stands for it.
func (s *screen) row(l lane, width int) string {
	c := divide(width)
	t := l.face()
	state := t.stage()
	result := s.fit(t.result(s.signs), c.result)
	switch {
	case t.state == "PLAN":
		result = s.paint(dim, result)
	case t.error != "":
		result = s.paint(colours[state], result)
	}
	return strings.Join([]string{
		s.fit(fmt.Sprintf("%*d", c.id, t.id), c.id),
		s.paint(colours[state], s.fit(s.states[state]+" "+state, c.state)),
		s.fit(s.oneLine(t.group), c.lane),
		s.dots(l, c.strip),
		s.paint(dim, s.fit(s.oneLine(t.input), c.input)),
		result,
	}, " ")
}

// dots is a sign for each task of the lane.
func (s *screen) dots(l lane, columns int) string {
	tasks, cut := l.strip(columns)
	end := strings.Repeat(" ", columns-len(tasks))
	if cut {
		tasks, end = tasks[:len(tasks)-1], s.paint(dim, s.more)
	}
	text := ""
	for _, t := range tasks {
		state := t.stage()
		text += s.paint(colours[state], s.states[state])
	}
	return text + end
}

func (s *screen) foot(width int) string {
	text := "^C ends it. Metrics: " + s.head.metrics + s.dot + s.head.about
	if s.ends {
		text = "It ends."
	}
	if s.kept != nil {
		if last := s.kept.last(); last != "" {
			return s.paint(yellow, s.cut(s.oneLine(last), width))
		}
	}
	return s.cut(text, width)
}

func (s *screen) paint(colour, text string) string {
	if s.plain || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[m"
}

// columns are the widths of a table's columns, which are one apart.
type columns struct{ id, state, lane, strip, input, result int }

// divide gives the room that columns of fixed width leave to the others.
func divide(width int) columns {
	c := columns{id: 5, state: 6, lane: 13}
	rest := max(width-c.id-c.state-c.lane-5, 0)
	c.strip = min(max(rest/5, 6), 24)
	rest = max(rest-c.strip, 0)
	c.input = rest * 9 / 20
	c.result = rest - c.input
	return c
}
