package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"text/tabwriter"
)

// sample is one run of a row on one build.
type sample struct {
	rate float64
	cost
}

// pair is a run on each build, one directly after the other.
type pair struct{ this, other sample }

// quantities are compared by pairs: the rate, where more is better, and costs, where less is
// better.
var quantities = []struct {
	name string
	of   func(sample) float64
}{
	{"tasks/s", func(s sample) float64 { return s.rate }},
	{"µs a task, program", func(s sample) float64 { return microseconds(s.program) }},
	{"server", func(s sample) float64 { return microseconds(s.server) }},
	{"sum", func(s sample) float64 { return microseconds(s.sum()) }},
	{"WAL bytes a task", func(s sample) float64 { return s.wal }},
}

// ratio returns the median of the pairs' ratios of this build to the other, and their spread. It
// returns nothing if there are no ratios, as when the system does not show processor times.
func ratio(pairs []pair, of func(sample) float64) string {
	ratios := make([]float64, len(pairs))
	for i, p := range pairs {
		ratios[i] = of(p.this) / of(p.other)
		if math.IsNaN(ratios[i]) || math.IsInf(ratios[i], 0) {
			return ""
		}
	}
	return fmt.Sprintf("%.3f (%.3f–%.3f)", middle(ratios), slices.Min(ratios), slices.Max(ratios))
}

// showPairs writes a line for each row, as Markdown.
func (s *stand) showPairs(ctx context.Context, rows []row, pairs [][]pair) error {
	w := tabwriter.NewWriter(s.out, 0, 0, 1, ' ', 0)
	head, rule := "| this ÷ other", "| ---"
	for _, q := range quantities {
		head += "\t| " + q.name
		rule += "\t| ---"
	}
	fmt.Fprintf(w, "%s\t|\n%s\t|\n", head, rule)
	for i, row := range rows {
		fmt.Fprintf(w, "| %s", row.title())
		for _, q := range quantities {
			fmt.Fprintf(w, "\t| %s", ratio(pairs[i], q.of))
		}
		fmt.Fprintln(w, "\t|")
	}
	fmt.Fprintf(w, "\n%s pairs, least and most\n", s.machine(ctx))
	return w.Flush()
}
