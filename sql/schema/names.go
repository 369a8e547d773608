package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"pgtaskd/sql"
	"pgtaskd/sql/lock"
)

// names has the values for the placeholders of steps, for one table.
type names struct {
	table sql.Table
	state string // the type, qualified and quoted
	words map[string]string
}

// namesOf returns the names for a table; parts: the table is partitioned.
func namesOf(t sql.Table, state string, parts bool, o Options) names {
	class, number := lock.Leadership(t, false).Numbers()
	n := names{t, state, map[string]string{
		":table": sql.Plain(t.Schema, t.Name), ":schema": sql.Plain(t.Schema), ":state": state,
		":schema_text": sql.Literal(t.Schema),
		":lead_class":  fmt.Sprint(class),
		":lead_first":  fmt.Sprint(number),
		":lead_last":   fmt.Sprint(number | (1<<24 - 1)), // earlier versions used other numbers up to this one
		":limits":      fmt.Sprint(lock.Limits),
		":wake":        fmt.Sprint(lock.Sleeping),
		":serving":     sql.Literal(o.Serving), ":serving_role": sql.Plain(o.Serving),
		":id_sequence":    sql.Plain(t.Schema, sql.Cut(t.Name, sql.MaxName-len("_id_seq"))+"_id_seq"),
		":async_security": "DEFINER",
		":hash":           t.Hash(),
		":root":           "",
		":becoming":       sql.Named(":becoming", nil),
		":version":        versionText,
	}}
	n.words[":table_text"] = sql.Literal(n.words[":table"])
	if o.Inserter {
		n.words[":async_security"] = "INVOKER"
	}
	if parts {
		n.words[":root"] = ", publish_via_partition_root = true"
	}
	return n
}

// fill replaces the placeholders in a step's text; also :its_… and :bare_…, which are an object
// beside the table with and without its schema.
func (n names) fill(statement string) string {
	return sql.Fill(statement, func(word string) (value string, is bool) {
		if value, is = n.words[word]; is {
			return value, true
		}
		if object, is := strings.CutPrefix(word, ":bare_"); is {
			return sql.Plain(sql.BesideName(n.table, object)), true
		}
		object, is := strings.CutPrefix(word, ":its_")
		object, text := strings.CutSuffix(object, "_text")
		value = sql.Plain(n.table.Schema, sql.BesideName(n.table, object))
		if text {
			value = sql.Literal(value)
		}
		return value, is
	})
}

// functionNames are the names of the functions that the tables of a schema share.
func functionNames() []string {
	var all []string
	for _, s := range stepsOf(functionStep) {
		all = append(all, s.name)
	}
	return all
}

// stateNames are the possible names of the state's type. A table's row type has the table's name,
// so the enum cannot have it.
func stateNames(t sql.Table) []string {
	if t.Name == "state" {
		return []string{"pgtaskd_state"}
	}
	return []string{"state", "pgtaskd_state"}
}

// made identifies the object's build in its comment: the schema's version, and a hash of the
// statements that made it.
func (n names) made(s step) string {
	sum := sha256.Sum256([]byte(n.fill(s.sql)))
	return versionText + " " + hex.EncodeToString(sum[:4])
}

func (n names) statements(s step) string {
	return n.fill(strings.ReplaceAll(s.sql, ":made", n.made(s)))
}
