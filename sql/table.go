package sql

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Version is that of the schema; it stands in the comments of the table and of the functions. What
// has a higher one was made by a later pgtaskd and is not taken back.
const Version = 1

// Table names a task table. The names are as in the catalog: unquoted, at most 63 bytes.
type Table struct {
	Schema, Name string
}

// Quoted is the qualified name as SQL has it.
func (t Table) Quoted() string {
	return pgx.Identifier{t.Schema, t.Name}.Sanitize()
}

// String is the same, for messages.
func (t Table) String() string {
	return t.Quoted()
}

// Channel is the name under which the table's triggers NOTIFY what does not concern new tasks, as
// their function pgtaskd_wake_:hash computes it.
func Channel(t Table) string {
	return "pgtaskd_" + t.hash()
}

// hash is 16 hexadecimal digits that stand for the table where its name would be too long.
func (t Table) hash() string {
	sum := sha256.Sum256([]byte(t.Quoted()))
	return hex.EncodeToString(sum[:8])
}

// functionNames are those of the table's own functions: of the triggers', which have no parameters,
// and of those that are called with a value of the type callName. The ones that it has where each
// task runs under the role that inserted it are among them if inserter says so.
func functionNames(t Table, inserter bool) (fired, called []string) {
	all := stepsOf(functionStep)
	if inserter {
		all = append(all, roleStepsOf(functionStep)...)
	}
	for _, s := range all {
		name := names{table: t}.fill(s.name)
		if strings.Contains(s.sql, "FUNCTION :schema."+s.name+"()") {
			fired = append(fired, name)
		} else {
			called = append(called, name)
		}
	}
	for _, name := range besideCalled() {
		called = append(called, names{table: t}.fill(name))
	}
	return fired, called
}

// calledNames are those of all functions that are called with a value of that type.
func calledNames(t Table) []string {
	_, called := functionNames(t, false)
	return append(called, names{table: t}.fill("pgtaskd_end_:hash"))
}

// triggerNames are those of every table's triggers.
func triggerNames() []string {
	var all []string
	for _, s := range append(stepsOf(triggerStep), roleStepsOf(triggerStep)...) {
		all = append(all, s.name)
	}
	return all
}

// typeNames are those of a table's register of sessions, and of the type that its functions take:
// types and relations cannot have the same.
func typeNames(t Table) []string { return []string{registerName(t), callName(t)} }

// callName is the name of the type that only our functions can take.
func callName(t Table) string { return names{table: t}.fill(stepsOf(callStep)[0].name) }

// indexNames are those of a table's indexes, partitioned or not.
func indexNames(t Table) []string {
	var all []string
	for _, s := range slices.Concat(steps(), partitionedSteps()) {
		if s.kind == indexStep {
			all = append(all, "pgtaskd_"+s.name+"_"+t.hash())
		}
	}
	return all
}

// names stand for the placeholders of a step.
type names struct {
	table Table
	state string // the type, qualified and quoted
	parts bool   // the table is partitioned

	serving string // the role that serves the table, where tasks run under those that insert them
}

// fill puts the names into a step's text. It is the only place where they meet.
func (n names) fill(sql string) string { return replaced(n.dollars(sql), n.of) }

// of is what a placeholder stands for.
func (n names) of(placeholder string) (value string, is bool) {
	if object, is := strings.CutPrefix(placeholder, ":its_"); is {
		if object, is = strings.CutSuffix(object, "_text"); is {
			return literal(Beside(n.table, object)), true
		}
		return Beside(n.table, object), true
	}
	switch placeholder {
	case ":table_text":
		return literal(n.table.Quoted()), true
	case ":schema_text":
		return literal(n.table.Schema), true
	case ":name_text":
		return literal(n.table.Name), true
	case ":lead_class":
		return strconv.FormatUint(uint64(Leadership(n.table, false).class), 10), true
	case ":lead_first":
		return strconv.FormatUint(uint64(Leadership(n.table, false).first), 10), true
	case ":lead_last":
		return strconv.FormatUint(uint64(Leadership(n.table, false).last), 10), true
	case ":limits":
		return strconv.FormatInt(limitLocks, 10), true
	case ":limits_text":
		return literal(limits(n.table)), true
	case ":serving":
		return undollared(n.serving), true
	case ":serving_text":
		return literal(n.serving), true
	case ":serving_role":
		return pgx.Identifier{n.serving}.Sanitize(), true
	case ":tokens":
		return Tokens(n.table), true
	case ":tokens_text":
		return literal(tokensName(n.table)), true
	case ":schema":
		return pgx.Identifier{n.table.Schema}.Sanitize(), true
	case ":table":
		return n.table.Quoted(), true
	case ":state":
		return n.state, true
	case ":state_text":
		return literal(n.state), true
	case ":hash":
		return n.table.hash(), true
	case ":register":
		return literal(Register(n.table)), true
	case ":wake":
		return strconv.FormatInt(wakeLocks, 10), true
	case ":root":
		if n.parts {
			return ", publish_via_partition_root = true", true
		}
		return "", true
	case ":version":
		return versionText, true
	}
	return "", false
}

// dollars gives the block in sql, or the body of the function, a dollar quote that no name contains.
// The names are not in it yet: they may hold the quote that it has.
func (n names) dollars(sql string) string {
	const block = "$pgtaskd$"
	all := n.table.Quoted() + n.state
	if !strings.Contains(all, "$") {
		return sql
	}
	tag := unusedTag(block, all)
	return strings.NewReplacer(block, tag, "$$", tag).Replace(sql)
}

// literal is a quoted string constant, whatever standard_conforming_strings says.
func literal(s string) string {
	quoted := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}
