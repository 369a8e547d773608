package door

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Grade says what a finding means for the target.
type Grade string

// The grades.
const (
	Refuse Grade = "refuse" // the table is not served
	Warn   Grade = "warn"   // can break or stop it, and run nothing
	Note   Grade = "note"   // is trusted, or as good as the serving role
)

// Finding is one thing that somebody owns or may do.
type Finding struct {
	Grade Grade
	Who   string // a role's name, or PUBLIC
	Way   string // owns, may CREATE in, has TRIGGER on …
	What  string // function public.f(integer)
	Mend  string // the statement that mends it; "" where none does

	part string // what it is about, as in row
}

// String says who, what, and how it is mended.
func (f Finding) String() string {
	who := "role " + pgx.Identifier{f.Who}.Sanitize()
	if f.Who == Public {
		who = f.Who
	}
	text := strings.TrimSpace(who + " " + f.Way + " " + f.What)
	switch {
	case f.Grade == Note:
		return text
	case f.Mend != "":
		text += ": " + f.Mend
	}
	if f.trustable() {
		text += fmt.Sprintf(`, or trust the role: "trust": [%q]`, f.Who)
	}
	return text
}

// trustable tells whether the key trust would help as well.
func (f Finding) trustable() bool {
	return f.Grade == Refuse && f.Who != Public && f.Way != isNoTable
}

// Public is who everybody is.
const Public = "PUBLIC"

// isNoTable is the way of a view or foreign table that has the table's name.
const isNoTable = "owns, where the table should be,"

// Findings are those of one look.
type Findings []Finding

// of are the findings of a grade.
func (f Findings) of(g Grade) Findings {
	return slices.DeleteFunc(slices.Clone(f), func(f Finding) bool { return f.Grade != g })
}

// Open tells that everybody may create something where the serving role looks up names.
func (f Findings) Open() bool {
	return slices.ContainsFunc(f, func(f Finding) bool { return f.Who == Public && (f.part == "path" || f.part == "schema") })
}

// Err is a *Refused error if the table is not to be served.
func (f Findings) Err() error {
	if slices.ContainsFunc(f, func(f Finding) bool { return f.Grade == Refuse }) {
		return &Refused{f}
	}
	return nil
}

// Refused is the error of a table that is not served for what Look has found.
type Refused struct{ Findings Findings }

func (r *Refused) Error() string {
	const most = 5
	var lines []string
	all := r.Findings.of(Refuse)
	for _, f := range all[:min(most, len(all))] {
		lines = append(lines, f.String())
	}
	if len(all) > most {
		lines = append(lines, fmt.Sprintf("and %d more", len(all)-most))
	}
	return strings.Join(lines, "; ")
}
