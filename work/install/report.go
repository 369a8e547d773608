package install

import (
	"fmt"

	"pgtaskd/exec/fault"
)

// Report is what Check has found.
type Report struct {
	Lines  []string // what would be created, or that all is there
	Faults []string // what stands in the way, a line each
	Doubts []string // what does not stand in the way, and yet should be known, a line each
	Notes  []string // who is trusted, or as good as the serving role
	Table  string   // names the table on whatever way one has come to its server; "" when there is none yet
	Above  []string // and those that it is a partition of, or inherits from
}

func (r *Report) say(format string, args ...any) {
	r.Lines = append(r.Lines, fmt.Sprintf(format, args...))
}

func (r *Report) fault(format string, args ...any) {
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

// failed is a fault that is an error, with what to do about it.
func (r *Report) failed(what string, err error) {
	if hint := fault.Hint(err); hint != "" {
		r.fault("%s%s (%s)", what, err, hint)
	} else {
		r.fault("%s%s", what, err)
	}
}

func (r *Report) doubt(format string, args ...any) {
	r.Doubts = append(r.Doubts, fmt.Sprintf(format, args...))
}
