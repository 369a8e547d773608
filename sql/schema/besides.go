package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// inspections are the statements that look at the catalogs.
var inspections = sql.NewQueries("schema/inspect", map[string]string{
	":guarded_part": "c.oid", ":guarded_whole": "below.whole", ":table_number": "$1::int8",
})

// besides has the objects beside the table: ours, and those of others with one of our names.
type besides struct {
	table sql.Table
	role  string // the connection's user, quoted
	makes bool   // the role may make missing objects
	there []foundBeside
}

// foundBeside is an object that has the name of one of ours beside the table.
type foundBeside struct {
	Name    string
	OID     int64
	Kind    string // as in pg_class for a relation; else function or type
	Comment string
	Missing []string // rights to it that the role lacks
}

// ofTasks begins the comment of every table of tasks. Such a table is never an object beside
// another.
const ofTasks = "Tasks: SQL to run"

// find returns the object with the name that the step's object has, and whether it is ours.
func (all *besides) find(s step) (there *foundBeside, ours bool) {
	name, function := sql.BesideName(all.table, s.name), s.makes == "function"
	for i, b := range all.there {
		if b.Name != name || (b.Kind == "function") != function {
			continue
		}
		if strings.HasPrefix(b.Comment, ofTasks) || versionOf(b.Comment) == 0 ||
			b.Kind != map[string]string{"table": "r", "view": "v", "function": "function"}[s.makes] {
			return &all.there[i], false
		}
		there = &all.there[i]
	}
	return there, there != nil
}

// foreign tells which objects beside the table are not made because another object has their name.
func (all *besides) foreign() (lines []string) {
	for _, s := range besideSteps() {
		if there, ours := all.find(s); there != nil && !ours {
			lines = append(lines, fmt.Sprintf("goes without %s %s: something else has that name, and is left alone; rename it", s.makes, sql.Beside(all.table, s.name)))
		}
	}
	return lines
}

// usable returns the oid of our table if the role has these rights to it. Else why says which
// function the target lacks, and which statement helps, if any does.
func (all *besides) usable(object string, rights []string, without string) (oid int64, why string) {
	there, ours := all.find(besideStepOf(object))
	if !ours {
		return 0, ""
	}
	absent := slices.DeleteFunc(slices.Clone(rights), func(right string) bool { return !slices.Contains(there.Missing, right) })
	if len(absent) > 0 {
		return 0, fmt.Sprintf("%s: rights are missing: GRANT %s ON TABLE %s TO %s", without, strings.Join(absent, ", "), sql.Beside(all.table, object), all.role)
	}
	return there.OID, ""
}

// registerRights are the rights that using the register needs.
var registerRights = []string{"SELECT", "INSERT", "DELETE"}

// registered returns the oid of the register, or why it cannot be used and how to change that.
func (all *besides) registered() (oid int64, why string) {
	const without = "goes without a register of sessions: those of a previous leader are recognised by role, name and age"
	oid, why = all.usable("session", registerRights, without)
	switch there, _ := all.find(besideStepOf("session")); {
	case oid != 0 || why != "":
		return oid, why
	case there != nil:
		return 0, without + "; " + sql.Beside(all.table, "session") + " is none: drop or rename it"
	}
	return 0, without + "; let the owner of the table run the output of pgtaskd schema, which makes it"
}

// actRights are the rights that recording acts needs.
var actRights = []string{"SELECT", "INSERT", "UPDATE"}

// serving are the rights that serving a table needs.
var serving = []string{"SELECT", "INSERT", "UPDATE", "DELETE"}

// limits is the qualified name of the sequence that counts the changes of the table of groups.
func limits(t sql.Table) string {
	return sql.Beside(t, "group_changes")
}

// group returns the oids of the table of groups and of the sequence that counts its changes, if the
// role can read them. Else why says how to let the role read them, if that is possible.
func (all *besides) group(ctx context.Context, conn *pgx.Conn) (oid, sequence int64, why string, err error) {
	without := "does not limit groups as table " + sql.Beside(all.table, "group") + " says"
	if there, _ := all.find(besideStepOf("group")); there == nil {
		return 0, 0, without + ": there is none; let the owner of the table run the output of pgtaskd schema, which makes it", nil
	}
	if oid, why = all.usable("group", []string{"SELECT"}, without); oid == 0 {
		return 0, 0, why, nil
	}
	var readable bool
	err = conn.QueryRow(ctx, inspections.Text("group"), oid).Scan(&sequence, &readable)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, 0, without + ": it has lost its sequence; drop the table, so that it is made again", nil
	case err == nil && !readable:
		return 0, 0, fmt.Sprintf("%s: rights are missing: GRANT SELECT ON SEQUENCE %s TO %s", without, limits(all.table), all.role), nil
	}
	return oid, sequence, "", err
}
