package apply

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// place is where something stands in a file.
type place struct {
	file         string
	line, column int // from 1; the column counts characters
}

func (p place) String() string {
	return fmt.Sprintf("%s: line %d, column %d", p.file, p.line, p.column)
}

// Fault is one thing that is wrong with a file.
type Fault struct {
	File         string
	Line, Column int // from 1; 0: the whole file
	Message      string
}

// Error is the fault on one line.
func (f Fault) Error() string {
	if f.Line == 0 {
		return f.File + ": " + f.Message
	}
	return place{f.File, f.Line, f.Column}.String() + ": " + f.Message
}

// Faults are all that is wrong, file by file.
type Faults []Fault

// Error has a line for each fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find a Fault, and the program print a line for each.
func (f Faults) Unwrap() []error {
	errs := make([]error, len(f))
	for i, fault := range f {
		errs[i] = fault
	}
	return errs
}

func (f *Faults) add(at place, format string, args ...any) {
	*f = append(*f, Fault{at.file, at.line, at.column, fmt.Sprintf(format, args...)})
}

// mostFaults is how many are shown: a file that is something else has one a line.
const mostFaults = 20

// err is nil when nothing is wrong. Files keep the order in which they were named.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	order := map[string]int{}
	for _, fault := range f {
		if _, known := order[fault.File]; !known {
			order[fault.File] = len(order)
		}
	}
	slices.SortStableFunc(f, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if len(f) > mostFaults {
		more := len(f) - mostFaults
		f = append(f[:mostFaults:mostFaults], Fault{File: f[mostFaults].File, Message: fmt.Sprintf("and %d more faults", more)})
	}
	return f
}
