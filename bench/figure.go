package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
)

// figure is one measured value.
type figure struct {
	name  string
	value float64 // in unit
	unit  string  // "" is tasks/s, where more is better; for all other units less is better
	peer  float64 // the rate to compare with; 0: none
	bar   float64 // limit that value, or value ÷ peer, must reach or not exceed
	aim   float64 // better than the bar; 0: none

	cost, peerCost cost // of a task; zero if no task ran, or if it was not measured
}

// judged is the value to compare with the bar.
func (f figure) judged() float64 {
	if f.peer == 0 {
		return f.value
	}
	return f.value / f.peer
}

// table collects the figures of all rounds, in the order in which they first came.
type table struct {
	names  []string
	rounds map[string][]figure
}

func (t *table) add(figures []figure) {
	if t.rounds == nil {
		t.rounds = map[string][]figure{}
	}
	for _, f := range figures {
		if t.rounds[f.name] == nil {
			t.names = append(t.names, f.name)
		}
		t.rounds[f.name] = append(t.rounds[f.name], f)
	}
}

// print writes a line for each figure, as Markdown.
func (t *table) print(out io.Writer, machine string) error {
	w := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| row\t| pgtaskd\t| beside\t| ratio\t| spread\t| bar (aim)\t| µs a task: pgtaskd + server\t| beside\t|")
	fmt.Fprintln(w, "| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t|")
	for _, name := range t.names {
		fmt.Fprintf(w, "| %s\t%s\n", name, line(t.rounds[name]))
	}
	fmt.Fprintf(w, "\n%s\n", machine)
	return w.Flush()
}

// line returns the table's line for one figure. The ratio is the median of the rounds' ratios,
// since a disturbance affects both sides of a round. The spread goes from the least judged value to
// the greatest.
func line(rounds []figure) string {
	first := rounds[0]
	value := median(rounds, func(f figure) float64 { return f.value })
	judged := median(rounds, figure.judged)
	least := slices.MinFunc(rounds, byJudged).judged()
	most := slices.MaxFunc(rounds, byJudged).judged()
	spent := costs(rounds, func(f figure) cost { return f.cost })
	if first.peer == 0 {
		return fmt.Sprintf("| %.2f %s\t|\t|\t| %.2f–%.2f\t| ≤ %s\t| %s\t|\t|",
			value, first.unit, least, most, first.goal("%g", judged <= first.bar), spent)
	}
	peer := median(rounds, func(f figure) float64 { return f.peer })
	return fmt.Sprintf("| %.0f/s\t| %.0f/s\t| %.3f\t| %.3f–%.3f\t| ≥ %s\t| %s\t| %s\t|",
		value, peer, judged, least, most, first.goal("%.2f", judged >= first.bar), spent,
		costs(rounds, func(f figure) cost { return f.peerCost }))
}

// goal returns the bar and the aim, and whether the value has reached the bar.
func (f figure) goal(format string, reached bool) string {
	goal := fmt.Sprintf(format, f.bar)
	if f.aim != 0 {
		goal += fmt.Sprintf(" ("+format+")", f.aim)
	}
	if !reached {
		goal += " missed"
	}
	return goal
}

func byJudged(a, b figure) int {
	return cmp.Compare(a.judged(), b.judged())
}

// median returns the median over the rounds.
func median(rounds []figure, value func(figure) float64) float64 {
	values := make([]float64, len(rounds))
	for i, f := range rounds {
		values[i] = value(f)
	}
	return middle(values)
}

// middle returns the middle value, or the mean of the two middle values.
func middle(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// grouped writes a number with commas between its thousands.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// costs returns the medians of the program's and the server's processor time in µs, or nothing if
// the system does not show them.
func costs(rounds []figure, of func(figure) cost) string {
	program := median(rounds, func(f figure) float64 { return microseconds(of(f).program) })
	server := median(rounds, func(f figure) float64 { return microseconds(of(f).server) })
	if program+server == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f + %.0f", program, server)
}
