package top

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"pgtaskd/human"
)

// draw draws everything. tcell sends the terminal what has changed.
func (w *window) draw() {
	w.screen.Clear()
	width, height := w.screen.Size()
	w.status(height-1, width)
	y, foot := w.head(width, height), height-1
	if v := w.known[w.list]; v != nil && !w.help {
		for _, note := range v.table.notes[:min(len(v.table.notes), 2)] {
			foot--
			w.put(foot, human.Cut(note, width), calm)
		}
		w.table(y, foot-y, v.table.filtered(w.filter), width)
	}
	if w.help {
		for i, line := range helpText[:min(len(helpText), max(0, foot-y))] {
			w.put(y+i, human.Cut(line, width), plain)
		}
	}
	w.screen.Show()
}

func (w *window) put(y int, text string, style tcell.Style) { w.screen.PutStrStyled(0, y, text, style) }

// head draws the lists to choose from, the heads of the targets and the fault, and returns the line
// below them.
func (w *window) head(width, height int) (y int) {
	v, x := w.known[w.list], 0
	for i, name := range names {
		style := plain
		if i == w.list {
			style = plain.Reverse(true)
		}
		tab := fmt.Sprintf("%d %s", i+1, name)
		w.screen.PutStrStyled(x, 0, tab, style)
		x += len(tab) + 1
	}
	if v == nil {
		w.put(1, "reading …", calm)
		return 2
	}
	clock := v.at.Format("15:04:05 MST")
	w.screen.PutStrStyled(max(x, width-len(clock)), 0, clock, calm)
	y = 1
	lines := heads(v.heads)
	for i, line := range lines {
		if y > height/4 && i < len(lines)-1 {
			w.put(y, fmt.Sprintf("… %d more targets", len(lines)-i), calm)
			y++
			break
		}
		for _, part := range human.Wrap(line.text, width, 2) {
			w.put(y, part, line.style)
			y++
		}
	}
	if w.fault != nil {
		for _, part := range human.Wrap("Nothing can be read; trying again: "+human.Visible(w.fault.Error()), width, 3) {
			w.put(y, part, bad)
			y++
		}
	}
	return y + 1
}

// table draws the list, with the chosen row on the screen.
func (w *window) table(y, height int, t table, width int) {
	w.height = max(1, height-1)
	at := slices.IndexFunc(t.rows, func(r row) bool { return r.key == w.chosen[w.list] })
	if at >= 0 {
		w.at = at
	}
	w.at = max(0, min(w.at, len(t.rows)-1))
	if len(t.rows) == 0 {
		if w.fault == nil {
			w.put(y, "There are no rows.", calm)
		}
		return
	}
	w.chosen[w.list] = t.rows[w.at].key
	w.top = max(0, min(w.top, w.at, len(t.rows)-w.height), w.at-w.height+1)
	widths := t.widths(width)
	w.put(y, human.Cut(t.header(widths), width), plain.Bold(true))
	for i, r := range t.rows[w.top:min(len(t.rows), w.top+w.height)] {
		line := human.Cut(t.line(widths, r.cells), width)
		if w.top+i == w.at {
			r.style = r.style.Reverse(true)
			line += strings.Repeat(" ", max(0, width-human.Width(line)))
		}
		w.put(y+1+i, line, r.style)
	}
}

// status draws the last line: a question, the filter, what an act has led to, or the keys.
func (w *window) status(y, width int) {
	text, style := "? help  / filter  c cancel  p pause  a again  r run  q quit", calm
	switch {
	case w.help:
		text = "any key: back"
	case w.asked != nil:
		r := w.asked.row
		text = fmt.Sprintf("%s task %d? y/n  %s", w.asked.do, r.id, w.reader.targets[r.target].Name)
		style = plain.Bold(true)
	case w.typing:
		text, style = "/"+w.filter+"_", plain
	case w.message != "":
		text, style = w.message, plain.Bold(true)
	case w.filter != "":
		text, style = "filter: "+w.filter+"  (Esc ends it)", plain.Bold(true)
	}
	w.put(y, human.Cut(text, width), style)
}
