package conf

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Position is a place in a file.
type Position struct {
	Path         string
	Line, Column int // from 1; the column counts characters. 0: the whole file
}

func (p Position) String() string {
	if p.Line == 0 {
		return p.Path
	}
	return joined(p.Path, fmt.Sprintf("line %d, column %d", p.Line, p.Column))
}

// Fault is one mistake in a file. It never shows a connection string.
type Fault struct {
	Position
	Place   string // in a configuration, as in targets[1].sleep
	Message string
}

// Error returns the fault on one line.
func (f Fault) Error() string { return joined(f.Position.String(), f.Place, f.Message) }

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// Faults are all mistakes in one or more files.
type Faults []Fault

// Error returns one line for each fault.
func (f Faults) Error() string { return errors.Join(f.Unwrap()...).Error() }

// Unwrap lets errors.As find a Fault, and lets the program print one line for each.
func (f Faults) Unwrap() []error {
	errs := make([]error, len(f))
	for i, fault := range f {
		errs[i] = fault
	}
	return errs
}

// Add adds a fault.
func (f *Faults) Add(at Position, format string, args ...any) {
	*f = append(*f, Fault{Position: at, Message: fmt.Sprintf(format, args...)})
}

// mostFaults limits the faults shown: a file of another kind can have one for each value.
const mostFaults = 100

// Err returns nil if there are no faults, else the faults in the order of the text. Files keep the
// order in which they were named.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	order := map[string]int{}
	for _, fault := range f {
		if _, known := order[fault.Path]; !known {
			order[fault.Path] = len(order)
		}
	}
	slices.SortStableFunc(f, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(order[a.Path], order[b.Path]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if more := len(f) - mostFaults; more > 0 {
		last := f[mostFaults]
		f = f[:mostFaults:mostFaults]
		f.Add(Position{Path: last.Path}, "and %d more faults", more)
	}
	return f
}

// inFile adds the path of the file to the faults of an error.
func inFile(path string, err error) error {
	var faults Faults
	errors.As(err, &faults)
	for i := range faults {
		faults[i].Path = path
	}
	return err
}
