package rows

import (
	"regexp"

	"pgtaskd/human"
)

// Hidden says which columns somebody does not see. What is hidden is read nowhere, and nothing is
// searched in it.
type Hidden struct {
	Data, Input, Output bool
}

// Names are the names of the columns.
func (h Hidden) Names() (all []string) {
	for _, c := range []struct {
		name   string
		hidden bool
	}{{"data", h.Data}, {"input", h.Input}, {"output", h.Output}} {
		if c.hidden {
			all = append(all, c.name)
		}
	}
	return all
}

// Error returns an error of a task, or of one of its runs, as somebody may see it: without
// passwords, and if the input is hidden, only up to the lines that show SQL.
func (h Hidden) Error(text string) string {
	if at := showsSQL.FindStringIndex(text); h.Input && at != nil {
		text = text[:at[0]]
	}
	return human.Masked(text)
}

// showsSQL finds the first field of an error that shows the input, or SQL that it has called.
var showsSQL = regexp.MustCompile(`(?m)\n?^(?:QUERY|CONTEXT|STATEMENT):`)
