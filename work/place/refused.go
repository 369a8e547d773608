package place

import (
	"fmt"
	"strings"

	"pgtaskd/sql"
)

// Refused is the error of a copy that nobody has adopted.
type Refused struct{ Found Found }

// Err returns a *Refused if the table is a copy.
func (f Found) Err() error {
	if f.Differs == "" {
		return nil
	}
	return &Refused{f}
}

// Error says what the table was copied from, how many tasks wait, and what to do.
func (r *Refused) Error() string {
	f := r.Found
	if f.Stale {
		return fmt.Sprintf("table %s is not served on %s: %s; stop that server, or take it out of the dsn", f.table, f.server, f.Differs)
	}
	text := fmt.Sprintf("table %s is a copy, and not served: it comes from %s", f.table, f.from)
	if f.seen != nil {
		text += ", where it was last led at " + f.seen.UTC().Format("2006-01-02 15:04:05-07")
	}
	text += "; " + f.Differs + "; " + f.brought()
	text += ": pgtaskd adopt [--all | --keep-paused | --gone] lets them go on here, pauses them or gives them up; or DROP TABLE " + f.table.String()
	if f.Named {
		text += `; "cluster": "a name" in the configuration tells it apart for ever`
	}
	return text
}

// Key is the same for all errors of the same cause.
func (r *Refused) Key() string { return r.Found.table.String() + r.Found.Differs }

// brought says how many tasks the copy has brought.
func (f Found) brought() string {
	more := ""
	if f.waits+f.atWork >= mostCounted {
		more = "+"
	}
	text := fmt.Sprintf("%d%s tasks wait", f.waits, more)
	if f.waits == 1 {
		text = "1 task waits"
	}
	if f.atWork > 0 {
		text += fmt.Sprintf(", %d%s at work when it was copied", f.atWork, more)
	}
	return text
}

// Lacks says what the server does not tell the role, and how to change that; "": it tells all.
func (f Found) Lacks(role string) string {
	if f.Place.Table == 0 || f.Place.System != "" {
		return ""
	}
	return "a copy on another server may not be recognised: GRANT EXECUTE ON FUNCTION pg_control_system() TO " + sql.Plain(role) + ", or name the place: \"cluster\""
}

// Reason is the error of a task that was given up in the copy.
func (f Found) Reason() string {
	return strings.Join([]string{
		"ERROR:  task was given up in a copy of its table",
		"DETAIL:  It comes from " + f.from + ", and pgtaskd adopt --gone has given up what waited.",
	}, "\n")
}
