package door

import (
	"fmt"
	"slices"
	"strings"

	"pgtaskd/sql"
)

// Grade says what a finding means for the target.
type Grade string

// The grades.
const (
	Refuse Grade = "refuse" // the table is not served
	Warn   Grade = "warn"   // the role can break or stop the table, but run nothing
	Note   Grade = "note"   // the role is trusted, or as powerful as the serving role
)

// Finding is one thing that a role owns or may do.
type Finding struct {
	Grade Grade  `db:"-"`
	Way   string // owns, may CREATE in, has TRIGGER on …
	Part  string // the kind of object: a class of pg_depend, a relation's part, a place
	Who   string // a role's name, or PUBLIC
	What  string // function public.f(integer)
	Mend  string // the statement that mends it; "": there is none
}

// String says who can do what, and how to mend that.
func (f Finding) String() string {
	who := "role " + sql.Quoted(f.Who)
	if f.Who == Public {
		who = f.Who
	}
	text := strings.TrimSpace(who + " " + f.Way + " " + f.What)
	if f.Grade != Note && f.Mend != "" {
		text += ": " + f.Mend
	}
	if f.Grade == Refuse && f.Who != Public && f.Way != isNoTable {
		text += fmt.Sprintf(`, or trust the role: "trust": [%q]`, f.Who)
	}
	return text
}

// Public means everybody.
const Public = "PUBLIC"

// isNoTable is the Way of a view or foreign table with the table's name.
const isNoTable = "owns, where the table should be,"

// Findings are the findings of one look.
type Findings []Finding

// Open reports whether everybody may create something where the serving role looks up names.
func (f Findings) Open() bool {
	return slices.ContainsFunc(f, func(f Finding) bool { return f.Who == Public && (f.Part == "path" || f.Part == "schema") })
}

// Err returns a *Refused if the table must not be served.
func (f Findings) Err() error {
	if slices.ContainsFunc(f, func(f Finding) bool { return f.Grade == Refuse }) {
		return &Refused{f}
	}
	return nil
}

// Refused is the error for a table that its findings keep from being served.
type Refused struct{ Findings Findings }

func (r *Refused) Error() string {
	const most = 5
	var lines []string
	for _, f := range r.Findings {
		if f.Grade == Refuse {
			lines = append(lines, f.String())
		}
	}
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "; ")
}

// trusted is a role that is trusted.
type trusted struct {
	OID  int64 // 0: PUBLIC
	Name string
	Why  string // "" for superusers, the serving role, and roles that are named
}

// graded grades the findings. If everybody may run SQL as the serving role, or is trusted by name,
// nothing else gives anybody more power.
func graded(superuser bool, trust []string, believed []trusted, found []Finding) Findings {
	all := missing(trust, believed)
	everybody := slices.Contains(trust, Public)
	plain := map[string]bool{}
	for _, t := range believed {
		plain[t.Name] = plain[t.Name] || t.Why == ""
		everybody = everybody || t.OID == 0
	}
	for _, t := range believed {
		if t.Why != "" && !plain[t.Name] && !strings.HasPrefix(t.Name, "pg_") {
			all = append(all, Finding{Grade: Note, Who: t.Name, Way: t.Why})
		}
	}
	if everybody {
		return all
	}
	for _, f := range found {
		f.Grade = f.grade(superuser)
		all = append(all, f)
	}
	order := func(g Grade) int { return slices.Index([]Grade{Refuse, Warn, Note}, g) }
	slices.SortStableFunc(all, func(a, b Finding) int { return order(a.Grade) - order(b.Grade) })
	return all
}

// grade returns Refuse if code of the role would run as the serving role, or the table would be the
// role's: otherwise it can only break the table. It also refuses a place where a superuser's
// session looks up names.
func (f Finding) grade(superuser bool) Grade {
	switch f.Part {
	case "schema":
		if f.Who == Public && !superuser {
			return Warn
		}
	case "path":
		if !superuser {
			return Warn
		}
	case "default", "sequence",
		"pg_namespace", "pg_operator", "pg_opclass", "pg_opfamily", "pg_collation", "pg_extension",
		"pg_ts_config", "pg_ts_dict", "pg_language", "pg_publication":
		return Warn
	}
	return Refuse
}

// missing returns warnings about trusted roles that do not exist.
func missing(trust []string, believed []trusted) (all Findings) {
	for _, name := range trust {
		if name != Public && !slices.ContainsFunc(believed, func(t trusted) bool { return t.Name == name }) {
			all = append(all, Finding{
				Grade: Warn, Who: name, Way: "is trusted and does not exist",
				Mend: fmt.Sprintf(`take it out of "trust", or CREATE ROLE %s`, sql.Quoted(name)),
			})
		}
	}
	return all
}
