package top

import (
	"strings"

	"github.com/gdamore/tcell/v2"

	"pgtaskd/human"
)

// table is a list in columns, for any width.
type table struct {
	columns []column
	rows    []row
	notes   []string // what is missing
}

// column is one of a table. If there is no room, columns become narrower down to least (most: not
// at all), and then those with the highest rank disappear.
type column struct {
	name   string
	least  int
	rank   int
	number bool
}

// row is a row of a table, which stands for a task.
type row struct {
	key    string // unique in the table, and stays while others come and go
	target int
	id     int64
	paused bool
	style  tcell.Style
	cells  []string
}

const (
	gap  = 2  // between columns
	most = 60 // width that a column has before others have what they need
)

// add adds a row. Texts may come from anybody.
func (t *table) add(r row) {
	for i, cell := range r.cells {
		r.cells[i] = human.Visible(cell)
	}
	t.rows = append(t.rows, r)
}

// filtered returns the table with the rows that have the text in a cell, in small or capital letters.
func (t table) filtered(text string) table {
	text = strings.ToLower(text)
	var found []row
	for _, r := range t.rows {
		if strings.Contains(strings.ToLower(strings.Join(r.cells, "\x00")), text) {
			found = append(found, r)
		}
	}
	t.rows = found
	return t
}

// widths returns the widths of the columns; 0: there is no room for it.
func (t *table) widths(width int) []int {
	wanted := make([]int, len(t.columns))
	for i, c := range t.columns {
		for _, r := range t.rows {
			wanted[i] = max(wanted[i], human.Width(r.cells[i]))
		}
		if wanted[i] > 0 || c.rank == 0 { // else it is empty
			wanted[i] = max(wanted[i], len(c.name))
		}
	}
	widths := make([]int, len(wanted))
	for i, w := range wanted {
		widths[i] = min(w, most)
	}
	for excess := total(widths) - width; excess > 0; excess = total(widths) - width {
		widest, last := -1, 0
		for i, w := range widths {
			if w > t.columns[i].least && (widest < 0 || w > widths[widest]) {
				widest = i
			}
			if w > 0 && t.columns[i].rank > t.columns[last].rank || widths[last] == 0 {
				last = i
			}
		}
		switch {
		case widest >= 0:
			widths[widest]--
		case t.columns[last].rank > 0:
			widths[last] = 0
		default:
			return widths // the lines are cut
		}
	}
	for i := range widths {
		if widths[i] > 0 {
			widths[i] += min(wanted[i]-widths[i], max(0, width-total(widths)))
		}
	}
	return widths
}

func total(widths []int) (sum int) {
	for _, w := range widths {
		if w > 0 {
			sum += w + gap
		}
	}
	return sum - gap
}

// line writes cells in columns.
func (t *table) line(widths []int, cells []string) string {
	var b strings.Builder
	for i, w := range widths {
		if w == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		cell := human.Cut(cells[i], w)
		pad := strings.Repeat(" ", w-human.Width(cell))
		if t.columns[i].number {
			b.WriteString(pad + cell)
		} else {
			b.WriteString(cell + pad)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// header writes the names of the columns.
func (t *table) header(widths []int) string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return t.line(widths, names)
}
