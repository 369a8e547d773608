package page

import (
	"fmt"
	"strconv"

	"pgtaskd/human"
	"pgtaskd/web/rows"
)

// Sizes of a graph, in pixels; the template draws boxes of this size. There are up to three columns:
// what is before a task, the task, what is after it.
const (
	boxWide   = 230
	boxHigh   = 40
	rowHigh   = 52
	columnGap = 290 // from column to column
	labelMost = 34  // characters
)

// graph are the tasks around a task, as they are drawn.
type graph struct {
	Wide, High int
	Boxes      []box
	Edges      []string // paths
}

// box is a task.
type box struct {
	X, Y       int
	URL        string // "": of no task, or of this one
	Class      string // of its state
	Name, Says string
}

// graphOf draws the tasks around a task; nil if there are none.
func graphOf(v *taskView, a *Asked) *graph {
	before, after := v.around(a)
	if len(before)+len(after) == 0 {
		return nil
	}
	rows, column := max(len(before), len(after)), min(1, len(before))
	g := &graph{Wide: (column+min(1, len(after)))*columnGap + boxWide, High: rows * rowHigh}
	own := newBox(column, 0, rows-1, link{Is: "this task"})
	own.Name, own.Class = fmt.Sprint(v.ID, " ", v.State), Word(v.State, v.Stop)
	for i, l := range before {
		b := newBox(0, i, rows-len(before), l)
		g.Boxes = append(g.Boxes, b)
		g.edge(b, own)
	}
	g.Boxes = append(g.Boxes, own)
	for i, l := range after {
		b := newBox(column+1, i, rows-len(after), l)
		g.Boxes = append(g.Boxes, b)
		g.edge(own, b)
	}
	return g
}

// newBox returns the box in a row of a column; spare is how many rows the column leaves empty.
func newBox(column, row, spare int, l link) box {
	b := box{X: column * columnGap, Y: row*rowHigh + spare*rowHigh/2 + (rowHigh-boxHigh)/2, URL: l.URL, Says: l.Is}
	if l.URL == "" {
		return b
	}
	b.Name = strconv.FormatInt(l.ID, 10) + " "
	if l.State == nil {
		b.Name += "is gone"
	} else {
		b.Class = Word(*l.State, l.Stop)
		b.Name += *l.State + " " + b.Class
	}
	if name := plain(l.Key); name != "" {
		b.Says += ", " + name
	} else if name := plain(l.Group); name != "" {
		b.Says += ", " + name
	}
	b.Says = human.Visible(shortened(b.Says, labelMost))
	return b
}

// edge draws an arrow from one box to another.
func (g *graph) edge(from, to box) {
	x, y, half := from.X+boxWide, from.Y+boxHigh/2, (from.X+boxWide+to.X)/2
	end := to.Y + boxHigh/2
	g.Edges = append(g.Edges, fmt.Sprintf("M%d %dC%d %d %d %d %d %dm-7 -4l7 4l-7 4", x, y, half, y, half, end, to.X, end))
}

// link leads to another task.
type link struct {
	Is  string // what it is to this task
	URL string // "": of no task
	rows.Around
}

// around sorts the tasks around the task into those before and those after it.
func (v *taskView) around(a *Asked) (before, after []link) {
	count := map[string]int{}
	for _, other := range v.Around {
		l := link{URL: a.Link("/task", "id", strconv.FormatInt(other.ID, 10)), Around: other}
		count[other.Kind]++
		switch {
		case count[other.Kind] == rows.AroundMost+1:
			l = link{Is: "and more"}
		case count[other.Kind] > rows.AroundMost:
			continue
		case other.Kind == "parent" && other.Repeats:
			l.Is = "the run before it"
		case other.Kind == "parent":
			l.Is = "has inserted it"
		case other.Kind == "next":
			l.Is = "its next repetition"
		case other.Kind == "after":
			l.Is = "must end well first"
		default:
			l.Is = "waits for it"
		}
		if other.Kind == "parent" || other.Kind == "after" {
			before = append(before, l)
		} else {
			after = append(after, l)
		}
	}
	return before, after
}
