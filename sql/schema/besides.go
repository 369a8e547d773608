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

// inspections are the statements that look.
var inspections = sql.NewQueries("schema/inspect", map[string]string{
	":guarded_part": "c.oid", ":guarded_whole": "below.whole", ":table_number": "$1::int8",
})

// besides are the objects beside the table: ours, and others that have one of their names.
type besides struct {
	table sql.Table
	role  string // the connection's user, quoted
	makes bool   // it may make missing objects
	there []foundBeside
}

// foundBeside is something that has the name of an object beside the table.
type foundBeside struct {
	Name    string
	OID     int64
	Kind    string // of a relation, as pg_class has it; function; type
	Comment string
	Missing []string // rights to it that the role does not have
}

// ofTasks begins the comment of a table of tasks, which is nothing beside another one.
const ofTasks = "Tasks: SQL to run"

// find returns the thing that has the name of the object, and whether it is ours.
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

// foreign says which objects beside the table are not made because something else has their name.
func (all *besides) foreign() (lines []string) {
	for _, s := range besideSteps() {
		if there, ours := all.find(s); there != nil && !ours {
			lines = append(lines, fmt.Sprintf("goes without %s %s: something else has that name, and is left alone; rename it", s.makes, sql.Beside(all.table, s.name)))
		}
	}
	return lines
}

// usable is the number of a table of ours, if the role has these rights to it; else why says what
// the target goes without, and which statement helps, if any does.
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

// registerRights are those that it takes to use the register.
var registerRights = []string{"SELECT", "INSERT", "DELETE"}

// registered is the number of the register, or why it cannot be used, and how to change that.
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

// serving are the rights that it takes to serve a table.
var serving = []string{"SELECT", "INSERT", "UPDATE", "DELETE"}

// limits is the qualified name of the sequence that counts the changes of the table of groups.
func limits(t sql.Table) string {
	return sql.Beside(t, "group_changes")
}

// group is the number of the table of groups, if the role can read it, and of the sequence that
// counts its changes; else why says how to let the role read it, if that is possible.
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
