package sql

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

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

// besideCalled are those of the functions beside the table that are called with one.
var besideCalled = sync.OnceValue(func() (all []string) {
	for _, s := range besideSteps() {
		for _, match := range callTaking.FindAllStringSubmatch(s.sql, -1) {
			all = append(all, match[1])
		}
	}
	return all
})

var callTaking = regexp.MustCompile(`(?m)^CREATE (?:OR REPLACE )?FUNCTION :schema\.(\w+_:hash)\([^)]*:schema\.pgtaskd_call_:hash`)

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

var placeholder = regexp.MustCompile(`:(its_\w+|table_text|schema_text|name_text|lead_\w+|limits_text|limits|serving_text|serving_role|serving|tokens_text|tokens|schema|table|state_text|state|hash|root|register|wake|version)`)

// fill puts the names into a step's text. It is the only place where they meet.
func (n names) fill(sql string) string {
	return placeholder.ReplaceAllStringFunc(n.dollars(sql), func(p string) string {
		if object, is := strings.CutPrefix(p, ":its_"); is {
			if object, is = strings.CutSuffix(object, "_text"); is {
				return literal(Beside(n.table, object))
			}
			return Beside(n.table, object)
		}
		lead := Leadership(n.table, false)
		switch p {
		case ":table_text":
			return literal(n.table.Quoted())
		case ":schema_text":
			return literal(n.table.Schema)
		case ":name_text":
			return literal(n.table.Name)
		case ":lead_class":
			return strconv.FormatUint(uint64(lead.class), 10)
		case ":lead_first":
			return strconv.FormatUint(uint64(lead.first), 10)
		case ":lead_last":
			return strconv.FormatUint(uint64(lead.last), 10)
		case ":limits":
			return strconv.FormatInt(limitLocks, 10)
		case ":limits_text":
			return literal(limits(n.table))
		case ":serving":
			return undollared(n.serving)
		case ":serving_text":
			return literal(n.serving)
		case ":serving_role":
			return pgx.Identifier{n.serving}.Sanitize()
		case ":tokens":
			return Tokens(n.table)
		case ":tokens_text":
			return literal(tokensName(n.table))
		case ":schema":
			return pgx.Identifier{n.table.Schema}.Sanitize()
		case ":table":
			return n.table.Quoted()
		case ":state":
			return n.state
		case ":state_text":
			return literal(n.state)
		case ":hash":
			return n.table.hash()
		case ":root":
			if n.parts {
				return ", publish_via_partition_root = true"
			}
			return ""
		case ":register":
			return literal(Register(n.table))
		case ":wake":
			return strconv.FormatInt(wakeLocks, 10)
		default:
			return versionText
		}
	})
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
