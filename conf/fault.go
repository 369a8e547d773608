package conf

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Fault is one thing that is wrong with a configuration. It never shows a
// connection string.
type Fault struct {
	Line, Column int    // from 1; the column counts characters
	Place        string // as in targets[1].sleep; empty when the text is no JSON at all
	Message      string
}

// Error is the fault on one line.
func (f Fault) Error() string {
	if f.Place == "" {
		return fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, f.Message)
	}
	return fmt.Sprintf("line %d, column %d: %s: %s", f.Line, f.Column, f.Place, f.Message)
}

// Faults are all that is wrong with a configuration, in the order of its text.
type Faults []Fault

// Error has a line for each fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find a Fault.
func (f Faults) Unwrap() []error {
	errs := make([]error, len(f))
	for i, fault := range f {
		errs[i] = fault
	}
	return errs
}

// mostFaults is how many are kept: a file that is something else can have one for each value.
const mostFaults = 100

// err is nil when nothing is wrong, else the faults in their order.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	slices.SortStableFunc(f, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return f
}

// position turns the offset of a byte into line and column.
func position(data []byte, offset int) (line, column int) {
	before := data[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}
