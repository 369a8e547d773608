package sql

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// What stands beside a table, in the order in which it is made: schema/beside has a file of each.
// The table is served as well without it, so what has the name of one of them is left alone.
var objects = []string{"leader", "group", "why", "schedule", "run", "stat", "error", "data", "async"}

// foundBeside is something that has the name of an object beside the table.
type foundBeside struct {
	Name    string
	OID     int64
	Kind    string // of a relation, as pg_class has it; function; overload, of others, its name with its parameters; type
	Comment string
	Owner   string // quoted
	Trusted bool
	Mine    bool     // the role may replace it
	Lacking []string // rights that the role has not to it
	Source  string   // of a function
}

// besideName is the table's name with an underscore and what the object is. Where that is too long,
// the table's name is cut, and a hash of it put behind.
func besideName(t Table, object string) string {
	name := t.Name + "_" + object
	if len(name) <= maxName {
		return name
	}
	rest := "_" + t.hash()[:8] + "_" + object
	short := t.Name[:maxName-len(rest)]
	for !utf8.ValidString(short) {
		short = short[:len(short)-1]
	}
	return short + rest
}

// Beside is the qualified name of an object beside the table, as SQL has it.
func Beside(t Table, object string) string {
	return pgx.Identifier{t.Schema, besideName(t, object)}.Sanitize()
}

// besideNames are those of all objects beside the table.
func besideNames(t Table) []string {
	all := make([]string, len(objects))
	for i, object := range objects {
		all[i] = besideName(t, object)
	}
	return all
}

// quotedAll are names as elements of an array.
func quotedAll(names []string) []string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
	}
	return quoted
}

// besideSteps are the steps that make them. They are shared.
var besideSteps = sync.OnceValue(func() []step {
	all := make([]step, len(objects))
	for i, object := range objects {
		all[i] = step{kind: besideStep, name: object, sql: bareText("beside/" + object)}
		if object == "async" {
			all[i].sql = bareText("beside/async_calls") + "\n" + all[i].sql
		}
		all[i].makes = madeBy(all[i].sql, object)
		if all[i].makes == "view" { // to whom it is open depends on the server
			open := named(bareText("session/open"),
				map[string]string{":view": ":its_" + object, ":inner": ":schema.pgtaskd_" + object + "_:hash(:schema.pgtaskd_call_:hash)"})
			all[i].sql += "\n" + open
		}
		if slices.Contains(sealed, object) {
			all[i].sql += "\n" + seal(all[i])
		}
		all[i].helpers = helpersIn(all[i].sql)
	}
	return all
})

// besideStepOf is the step that makes that object.
func besideStepOf(object string) step { return besideSteps()[slices.Index(objects, object)] }

// isMadeBy tells whether it is a function of ours: a dump may have brought it without its comment.
// One of another build is told by what it calls.
func (b *foundBeside) isMadeBy(t Table, s step) bool {
	return b.Source != "" && (strings.Contains(names{table: t}.fill(s.sql), "$"+b.Source+"$") || ofOurs(t).MatchString(b.Source))
}

// ofOurs is found in the text of a function that calls one of those beside the table.
func ofOurs(t Table) *regexp.Regexp { return regexp.MustCompile(`\bpgtaskd_\w+_` + t.hash() + `\b`) }

// bareText is a file without its comments.
func bareText(name string) string { return strings.TrimSpace(uncommented(text(name))) }

// madeBy is what the statements make under that name: a table, a view or a function.
func madeBy(sql, object string) string {
	for _, sort := range []string{"table", "view", "function"} {
		for line := range strings.SplitSeq(sql, "\n") {
			line = strings.Replace(line, "CREATE OR REPLACE ", "CREATE ", 1)
			if strings.HasPrefix(line, "CREATE "+strings.ToUpper(sort)+" ") && strings.Contains(line, ":its_"+object) {
				return sort
			}
		}
	}
	panic("no object: " + sql) // a mistake in an embedded file
}

// made is what the object's comment says of its build: the version of the schema, and a hash of
// the statements that have made it.
func (n names) made(s step) string {
	sum := sha256.Sum256([]byte(n.fill(s.sql)))
	return versionText + " " + hex.EncodeToString(sum[:4])
}

// besideSQL are the statements that make the object.
func (n names) besideSQL(s step) string {
	quoted := strings.ReplaceAll(s.sql, "$body$", unusedTag("$body$", n.table.Quoted()))
	return n.fill(strings.ReplaceAll(quoted, ":made", n.made(s)))
}

// unusedTag is a dollar quote that the text does not contain.
func unusedTag(tag, text string) string {
	for strings.Contains(text, tag) {
		tag = tag[:len(tag)-1] + "_$"
	}
	return tag
}

// besideDDL are statements for a person to run, which find out whether the object can be made.
func (n names) besideDDL(s step) string {
	kind := "relation"
	if s.makes == "function" {
		kind = "function"
	}
	statements := n.besideSQL(s)
	tag := unusedTag("$statements$", statements)
	return named(text("session/one"), map[string]string{
		":name": literal(besideName(n.table, s.name)), ":kind": literal(kind), ":build": literal(n.made(s)), ":task": literal(n.table.Quoted()),
		":calls": literal("{" + strings.Join(helpersOf(n.table, s), ",") + "}"), ":call_type": literal(callName(n.table)),
		":statements": tag + "\n" + statements + "\n" + tag,
	})
}

func (f *found) inspectBesides(ctx context.Context, conn *pgx.Conn, t Table, trusted []int64) (err error) {
	f.besides, err = collect(ctx, conn, "beside", pgx.RowToStructByPos[foundBeside], t.Schema, besideNames(t), trusted)
	return err
}

// ofTasks begins the comment of a table of tasks, which is nothing beside another one.
const ofTasks = "Tasks: SQL to run"

// beside is what has the name of the object, and whether that is ours.
func (f *found) beside(t Table, s step) (there *foundBeside, ours bool) {
	name, function := besideName(t, s.name), s.makes == "function"
	for i, b := range f.besides {
		if b.Name != name || (b.Kind == "function") != function {
			continue
		}
		if !b.Trusted || strings.HasPrefix(b.Comment, ofTasks) || versionOf(b.Comment) == 0 && !b.isMadeBy(t, s) ||
			b.Kind != map[string]string{"table": "r", "view": "v", "function": "function"}[s.makes] {
			return &f.besides[i], false
		}
		there = &f.besides[i]
	}
	return there, there != nil
}

// besideStep makes an object that is not there, and makes again what is of another build, or what a
// dump has brought, where the role may. What is not ours stays.
func (m *missing) besideStep(s step) {
	there, ours := m.beside(m.table, s)
	needs := m.createRight()
	switch {
	case there == nil && (m.oid == 0 || m.register.Makeable):
	case ours && versionOf(there.Comment) <= Version && (!there.isOf(m.names.made(s), m.here) || !m.callsWhole(m.table, s)):
		needs = "ownership of " + s.makes + " " + Beside(m.table, s.name)
	default:
		return
	}
	back, note := "", ""
	if there != nil && slices.Contains(sealed, s.name) && !there.isSealed(m.here) {
		if back = takesBack(Beside(m.table, s.name), ""); s.makes == "function" {
			back, note = takesBack("", Beside(m.table, s.name)+"()"), m.attached(m.table)
		}
	}
	m.changes = append(m.changes, Change{
		What: s.makes + " " + besideName(m.table, s.name), SQL: m.names.besideSQL(s), Needs: needs, Optional: true, Outdated: there != nil,
		beside: true, takesBack: back, Note: note,
	})
}

// brought is an object of ours, of those that are sealed, that was not made on this server.
func (f *found) brought(t Table, object string) *foundBeside {
	for _, s := range besideSteps() {
		if s.name != object {
			continue
		}
		if there, ours := f.beside(t, s); ours && !there.isSealed(f.here) {
			return there
		}
	}
	return nil
}

// attached says where triggers are that anybody may have made, as long as a dump was restored.
func (f *found) attached(t Table) string {
	const most = 10
	if len(f.callers) == 0 {
		return ""
	}
	tables := strings.Join(f.callers[:min(most, len(f.callers))], ", ")
	if len(f.callers) > most {
		tables += " and more"
	}
	return fmt.Sprintf("a dump has brought function %s(), and anybody could let triggers call it meanwhile: DROP TRIGGER those that are not meant of %s",
		Beside(t, "async"), tables)
}

// foreign says which objects beside the table are not made because something else has their name.
func (f *found) foreign(t Table) []string {
	var all []string
	for _, s := range besideSteps() {
		if there, ours := f.beside(t, s); there != nil && !ours {
			all = append(all, fmt.Sprintf("goes without %s %s: role %s has something else of that name, which is left alone; rename it", s.makes, Beside(t, s.name), there.Owner))
		}
	}
	for _, b := range f.besides {
		if b.Kind == "overload" {
			all = append(all, fmt.Sprintf("calls of pgtaskd's functions may be taken for calls of a function of role %s: DROP FUNCTION %s.%s", b.Owner, pgx.Identifier{t.Schema}.Sanitize(), b.Name))
		}
	}
	return all
}

// leader is the number of the table of controllers, if the role can write to it, and else what
// would let it, if anything would.
func (f *found) leader(t Table) (oid int64, lacks string) {
	there, ours := f.beside(t, besideStepOf("leader"))
	switch {
	case !ours:
		return 0, ""
	case !there.isSealed(f.here):
		return 0, "does not show who leads: " + fmt.Sprintf(unsealed, "table "+Beside(t, "leader"))
	case len(there.Lacking) > 0:
		return 0, fmt.Sprintf("does not show in table %s who leads: rights are missing: GRANT %s ON TABLE %[1]s TO %[3]s", Beside(t, "leader"), strings.Join(there.Lacking, ", "), f.register.Role)
	}
	return there.OID, ""
}

// GrantBeside gives a role the rights to the tables of controllers and of groups, as far as there
// are some of ours.
func GrantBeside(ctx context.Context, tx pgx.Tx, t Table, role string) error {
	d, err := Describe(ctx, tx.Conn(), t)
	if IsUntrusted(err) { // it is not ours to give
		return nil
	}
	if err != nil {
		return err
	}
	role = pgx.Identifier{role}.Sanitize()
	for object, number := range map[string]int64{"leader": d.Leader, "group": d.Group} {
		if number == 0 {
			continue
		}
		if _, err := tx.Exec(ctx, "GRANT "+strings.Join(serving, ", ")+" ON TABLE "+Beside(t, object)+" TO "+role); err != nil {
			return err
		}
	}
	if d.Group == 0 {
		return nil
	}
	_, err = tx.Exec(ctx, "GRANT SELECT ON SEQUENCE "+limits(t)+" TO "+role)
	return err
}

// seen tells the objects beside the table from what was there before.
func (f *found) seen() string {
	var parts []string
	for _, b := range f.besides {
		if b.Kind != "overload" {
			parts = append(parts, fmt.Sprint(b))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ";")
}
