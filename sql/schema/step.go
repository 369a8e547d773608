package schema

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"pgtaskd/sql"
)

// A step is one paragraph of the schema's files: it makes one object, or one part of the table, and
// can be run again. The same steps make a new table, complete one that is there, and are printed
// for a person to run.
type step struct {
	kind      kind
	name      string   // unquoted
	makes     string   // beside the table: table, view or function
	columns   []string // that it adds, or indexes, unquoted
	condition string   // on the rows that it indexes; empty: all
	sql       string   // with the placeholders of names
}

type kind int

const (
	schemaStep kind = iota
	typeStep
	functionStep
	tableStep
	columnStep
	constraintStep
	indexStep
	triggerStep
	publicationStep
	optionStep
	besideStep
	commentStep
)

// The kind of a step follows from its first statement.
var stepKinds = []struct {
	kind    kind
	pattern *regexp.Regexp
}{
	{schemaStep, regexp.MustCompile(`^CREATE SCHEMA IF NOT EXISTS (:schema)`)},
	{typeStep, regexp.MustCompile(`^CREATE TYPE (:state)`)},
	{functionStep, regexp.MustCompile(`^CREATE OR REPLACE FUNCTION :schema\.(\w+)\(`)},
	{tableStep, regexp.MustCompile(`^CREATE TABLE IF NOT EXISTS (:table)`)},
	{columnStep, regexp.MustCompile(`^ALTER TABLE :table ADD COLUMN IF NOT EXISTS "?(\w+)"?`)},
	{constraintStep, regexp.MustCompile(`^ALTER TABLE :table DROP CONSTRAINT IF EXISTS (\w+)`)},
	{indexStep, regexp.MustCompile(`^CREATE (?:UNIQUE )?INDEX IF NOT EXISTS :bare_(\w+)`)},
	{triggerStep, regexp.MustCompile(`^DROP TRIGGER IF EXISTS (\w+)`)},
	{publicationStep, regexp.MustCompile(`^DROP PUBLICATION IF EXISTS (pgtaskd_:hash)`)},
	{optionStep, regexp.MustCompile(`^ALTER TABLE :table SET \((\w+) =`)},
	{commentStep, regexp.MustCompile(`^COMMENT ON (\w+ [^ ]+) IS`)},
}

// The files in the order in which they are run, and read by a person: first the table, then the
// functions, then their callers.
var stepFiles = []string{"schema", "table", "comments", "options", "indexes", "functions", "after", "cron", "groups", "events", "reports", "triggers", "publication"}

var (
	indexedColumns = regexp.MustCompile(`ON :table \((.*?)\)(?: WHERE (.*?))?;`)
	sqlComments    = regexp.MustCompile(`(?m)\A(--.*\n)+`)
	oneLine        = regexp.MustCompile(`(?m);\n(--.*\n)*(ALTER TABLE :table ADD COLUMN |ALTER TABLE :table SET |COMMENT ON COLUMN :table)`)
)

// steps are those of every table.
var steps = sync.OnceValue(func() []step {
	var steps []step
	for _, file := range stepFiles {
		steps = append(steps, parseSteps(sql.File("schema/"+file))...)
	}
	return append(steps, besideSteps()...)
})

// partitionedSteps are those of a partitioned table besides.
var partitionedSteps = sync.OnceValue(func() []step { return parseSteps(sql.File("schema/partitioned")) })

// roleSteps are those of a table besides whose tasks run under the roles that insert them.
var roleSteps = sync.OnceValue(func() []step { return parseSteps(sql.File("schema/roles")) })

// sorts are the kinds of sql.Objects, in their order.
var sorts = []string{"table", "table", "table", "view", "view", "view", "view", "function", "function", "function"}

// besideSteps are the steps that make them. They are shared.
var besideSteps = sync.OnceValue(func() []step {
	all := make([]step, len(sql.Objects))
	for i, object := range sql.Objects {
		all[i] = step{kind: besideStep, name: object, sql: sql.Named(sql.File("schema/beside/"+object), nil), makes: sorts[i]}
	}
	return all
})

// besideStepOf is the step that makes that object.
func besideStepOf(object string) step { return besideSteps()[slices.Index(sql.Objects, object)] }

// parseSteps reads the paragraphs of a file; each column and each comment on one is a step as well.
func parseSteps(file string) []step {
	var steps []step
	file = oneLine.ReplaceAllString(file, ";\n\n$2")
	for paragraph := range strings.SplitSeq(file, "\n\n") {
		statements := strings.TrimSpace(sqlComments.ReplaceAllString(paragraph+"\n", ""))
		if statements != "" {
			steps = append(steps, parseStep(statements))
		}
	}
	return steps
}

func parseStep(statements string) step {
	for _, k := range stepKinds {
		match := k.pattern.FindStringSubmatch(statements)
		if match == nil {
			continue
		}
		s := step{kind: k.kind, name: strings.ReplaceAll(match[1], `"`, ""), sql: statements}
		switch s.kind {
		case columnStep:
			for _, column := range columnText.FindAllStringSubmatch(statements, -1) {
				s.columns = append(s.columns, column[1])
			}
		case indexStep:
			index := indexedColumns.FindStringSubmatch(statements)
			s.columns, s.condition = strings.Split(strings.ReplaceAll(index[1], " DESC", ""), ", "), index[2]
		}
		return s
	}
	panic("no known step: " + statements) // a mistake in an embedded file
}

// unique tells whether an index is.
func (s step) unique() bool {
	return strings.HasPrefix(s.sql, "CREATE UNIQUE")
}

// ofPlain tells a step that a partitioned table can't have.
func (s step) ofPlain() bool {
	return s.unique() || s.kind == optionStep
}

// forViews tells whether an index serves people's questions alone.
func (s step) forViews() bool { return s.name == "repeats_idx" }

// stepsOf are the steps of one kind, in order, those of roleSteps as well.
func stepsOf(k kind) []step {
	return slices.DeleteFunc(slices.Concat(steps(), roleSteps()), func(s step) bool { return s.kind != k })
}

// A wanted column, as its step has it.
type wantedColumn struct {
	name      string
	typ       string // e.g. int8[] or :state
	notNull   bool
	def       string // default expression; empty: none
	generated bool
}

var (
	columnText    = regexp.MustCompile(`(?s)ADD COLUMN IF NOT EXISTS "?(\w+)"? ("char"|[\w:\[\]]+)( NOT NULL)?(\s+GENERATED ALWAYS)?`)
	columnDefault = regexp.MustCompile(`(?s) DEFAULT ([^;]*);\z`)
)

// wantedColumns are all columns of every table but id, which comes with it, in their order.
var wantedColumns = sync.OnceValue(func() []wantedColumn {
	var columns []wantedColumn
	for _, s := range parseSteps(sql.File("schema/table")) {
		def := columnDefault.FindStringSubmatch(s.sql)
		for _, part := range columnText.FindAllStringSubmatch(s.sql, -1) {
			column := wantedColumn{name: part[1], typ: part[2], notNull: part[3] != "", generated: part[4] != ""}
			if def != nil {
				column.def = def[1]
			}
			columns = append(columns, column)
		}
	}
	return columns
})

// fires tells a trigger function.
func (s step) fires() bool { return strings.Contains(s.sql, " RETURNS trigger ") }

// The columns that a repetition does not copy, besides generated ones.
var notCopied = []string{
	"id", "parent", "plan", "start", "stop", "pid", "state", "error", "sqlstate", "output", "notice", "attempt", "interrupted",
	"runs", "base", "next", "created", "after", "awaits", "freed", "met", "awaited", "skipped", "failures", "atomic", "xact", "xact_at", "origin", "stopping",
}

// OwnColumns are the columns of every task table that a repetition copies, unquoted.
func OwnColumns() []string {
	var names []string
	for _, column := range wantedColumns() {
		if !column.generated && !slices.Contains(notCopied, column.name) {
			names = append(names, column.name)
		}
	}
	return names
}

// acceptTrigger tells the leader of new tasks, stateTrigger of STOP and PLAN, and changeTrigger of
// all else that it must know of.
const (
	acceptTrigger = "pgtaskd_accept"
	stateTrigger  = "pgtaskd_state"
	changeTrigger = "pgtaskd_update"
)

// wants tells whether the step is of use with that way of waking.
func wants(w sql.Wake, s step) bool {
	kind, name := s.kind, s.name
	switch {
	case kind == publicationStep:
		return w == sql.WAL
	case kind == triggerStep && name == changeTrigger:
		return w != sql.Poll
	}
	return true
}
