package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/human"
)

// report has the events and the violations. Any goroutine may call its methods.
type report struct {
	mu         sync.Mutex
	faults     map[string]int
	violations map[string]*violations
	promises   []string // the checks that were made, in the order of their first time
	ends       string
	settled    time.Duration
}

type violations struct {
	count    int
	examples []string
}

// maxExamples is how many violations of a promise are described.
const maxExamples = 5

func (r *report) struck(fault string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.faults == nil {
		r.faults = map[string]int{}
	}
	r.faults[fault]++
}

func (r *report) violated(promise string, examples ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.violations == nil {
		r.violations = map[string]*violations{}
	}
	v := r.violations[promise]
	if v == nil {
		v = &violations{}
		r.violations[promise] = v
		r.promises = append(r.promises, promise)
	}
	v.count += len(examples)
	v.examples = append(v.examples, examples[:min(len(examples), maxExamples-len(v.examples))]...)
}

// ask runs a check, and records the violations that it finds.
func (r *report) ask(ctx context.Context, conn *pgx.Conn, promise, statement string, args ...any) error {
	rows, err := conn.Query(ctx, text(statement), args...)
	if err != nil {
		return err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	r.violated(promise, found...)
	return nil
}

// count records how the tasks ended.
func (r *report) count(ctx context.Context, conn *pgx.Conn) error {
	return conn.QueryRow(ctx, text("ends.sql")).Scan(&r.ends)
}

func (r *report) broken() int {
	n := 0
	for _, v := range r.violations {
		n += v.count
	}
	return n
}

// print writes the tables as Markdown.
func (r *report) print(out io.Writer, faults []fault) error {
	w := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	total := 0
	fmt.Fprintln(w, "| fault\t| times\t|")
	fmt.Fprintln(w, "| ---\t| ---\t|")
	for _, f := range faults {
		fmt.Fprintf(w, "| %s\t| %d\t|\n", f.name, r.faults[f.name])
		total += r.faults[f.name]
	}
	fmt.Fprintf(w, "| all\t| %d\t|\n\n", total)
	fmt.Fprintln(w, "| promise broken\t| times\t|")
	fmt.Fprintln(w, "| ---\t| ---\t|")
	for _, promise := range r.promises {
		fmt.Fprintf(w, "| %s\t| %d\t|\n", promise, r.violations[promise].count)
	}
	fmt.Fprintf(w, "| all\t| %d\t|\n\n", r.broken())
	fmt.Fprintf(w, "%s, all within %s after the last fault\n", r.ends, human.Duration(r.settled))
	for _, promise := range r.promises {
		for _, example := range r.violations[promise].examples {
			fmt.Fprintf(w, "\n%s: %s", promise, example)
		}
	}
	fmt.Fprintln(w)
	return w.Flush()
}
