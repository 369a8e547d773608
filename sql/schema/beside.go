package schema

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"pgtaskd/sql"

	"github.com/jackc/pgx/v5"
)

// besides are what stands beside the table: ours, and what has one of its names.
type besides struct {
	table sql.Table
	role  string // the connection's user, quoted
	makes bool   // it may make what is missing
	there []foundBeside
}

// foundBeside is something that has the name of an object beside the table.
type foundBeside struct {
	Name    string
	OID     int64
	Kind    string // of a relation, as pg_class has it; function; type
	Comment string
	Lacking []string // rights that the role has not to it
}

// sorts are what Objects are made as.
var sorts = []string{"table", "table", "table", "view", "view", "view", "view", "function", "function", "function"}

// besideSteps are the steps that make them. They are shared.
var besideSteps = sync.OnceValue(func() []step {
	all := make([]step, len(sql.Objects))
	for i, object := range sql.Objects {
		all[i] = step{kind: besideStep, name: object, sql: bareText("beside/" + object), makes: sorts[i]}
	}
	return all
})

// besideStepOf is the step that makes that object.
func besideStepOf(object string) step { return besideSteps()[slices.Index(sql.Objects, object)] }

// bareText is a file without its comments.
func bareText(name string) string { return strings.TrimSpace(sql.Uncommented(text(name))) }

// made is what the object's comment says of its build: the version of the schema, and a hash of
// the statements that have made it.
func (n names) made(s step) string {
	sum := sha256.Sum256([]byte(n.fill(s.sql)))
	return versionText + " " + hex.EncodeToString(sum[:4])
}

// besideSQL are the statements that make the object.
func (n names) besideSQL(s step) string {
	return n.fill(strings.ReplaceAll(s.sql, ":made", n.made(s)))
}

// ofTasks begins the comment of a table of tasks, which is nothing beside another one.
const ofTasks = "Tasks: SQL to run"

// find is what has the name of the object, and whether that is ours.
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

// besideStep makes an object that is not there, and makes again what is of another build, where the
// role may. What is not ours stays.
func (m *missing) besideStep(s step) {
	there, ours := m.besides.find(s)
	switch {
	case there == nil && (m.oid == 0 || m.besides.makes):
	case ours && versionOf(there.Comment) <= Version && !strings.Contains(there.Comment, m.names.made(s)):
	default:
		return
	}
	change := m.change(s.makes+" "+sql.BesideName(m.table, s.name), m.names.besideSQL(s))
	change.Optional, change.Outdated, change.beside = true, there != nil, true
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

// usable is the number of a table of ours, if the role has these rights to it, and else says what it
// is served without, and what would help, if anything would.
func (all *besides) usable(object string, rights []string, without string) (oid int64, lacks string) {
	there, ours := all.find(besideStepOf(object))
	if !ours {
		return 0, ""
	}
	lacking := slices.DeleteFunc(slices.Clone(rights), func(right string) bool { return !slices.Contains(there.Lacking, right) })
	if len(lacking) > 0 {
		return 0, fmt.Sprintf("%s: rights are missing: GRANT %s ON TABLE %s TO %s", without, strings.Join(lacking, ", "), sql.Beside(all.table, object), all.role)
	}
	return there.OID, ""
}

// registerRights are those that it takes to use the register.
var registerRights = []string{"SELECT", "INSERT", "DELETE"}

// registered is the number of the register, or why it cannot be used, and what helps.
func (all *besides) registered() (oid int64, why string) {
	const without = "goes without a register of sessions: those of a previous leader are recognised by role, name and age"
	oid, why = all.usable("session", registerRights, without)
	switch there, _ := all.find(besideStepOf("session")); {
	case oid != 0 || why != "":
		return oid, why
	case there != nil:
		return 0, without + "; " + sql.Register(all.table) + " is none: drop or rename it"
	}
	return 0, without + "; let the owner of the table run the output of pgtaskd schema, which makes it"
}

// serving are the rights that it takes to serve a table.
var serving = []string{"SELECT", "INSERT", "UPDATE", "DELETE"}

// GrantBeside gives a role the rights to the tables beside the table, as far as there are some of ours.
func GrantBeside(ctx context.Context, tx pgx.Tx, t sql.Table, role string) error {
	d, err := Describe(ctx, tx.Conn(), t)
	if err != nil {
		return err
	}
	for _, grant := range []struct {
		number int64
		rights string
	}{
		{d.Leader, strings.Join(serving, ", ") + " ON TABLE " + sql.Beside(t, "leader")},
		{d.Group, strings.Join(serving, ", ") + " ON TABLE " + sql.Beside(t, "group")},
		{d.Group, "SELECT ON SEQUENCE " + limits(t)},
		{d.Register, strings.Join(registerRights, ", ") + " ON TABLE " + sql.Register(t)},
	} {
		if grant.number == 0 {
			continue
		}
		if _, err := tx.Exec(ctx, "GRANT "+grant.rights+" TO "+pgx.Identifier{role}.Sanitize()); err != nil {
			return err
		}
	}
	return nil
}
