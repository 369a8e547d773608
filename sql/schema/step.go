package schema

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"pgtaskd/sql"
)

// A step is one paragraph of the schema's files. It makes one object, or one part of the table, and
// can run again. The same steps make a new table, complete an existing one, and are the printed
// script.
type step struct {
	kind      kind
	name      string   // unquoted
	makes     string   // of an object beside the table: table, view or function
	columns   []string // unquoted columns that it adds or indexes
	condition string   // on the indexed rows; empty: all rows
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

// The files in the order in which they run and a person reads them: first the table, then the
// functions, then their callers.
var stepFiles = []string{"schema", "table", "comments", "options", "indexes", "functions", "after", "cron", "groups", "events", "reports", "triggers", "publication"}

var (
	indexedColumns = regexp.MustCompile(`ON :table \((.*?)\)(?: WHERE (.*?))?;`)
	sqlComments    = regexp.MustCompile(`(?m)\A(--.*\n)+`)
	oneLine        = regexp.MustCompile(`(?m);\n(--.*\n)*(ALTER TABLE :table ADD COLUMN |ALTER TABLE :table SET |COMMENT ON COLUMN :table)`)
)

// steps are the steps of every table.
var steps = sync.OnceValue(func() []step {
	var steps []step
	for _, file := range stepFiles {
		steps = append(steps, parseSteps(sql.File("schema/"+file))...)
	}
	return append(steps, besideSteps()...)
})

// partitionedSteps are the additional steps of a partitioned table.
var partitionedSteps = sync.OnceValue(func() []step { return parseSteps(sql.File("schema/partitioned")) })

// roleSteps are the additional steps of a table whose tasks run under the roles that insert them.
var roleSteps = sync.OnceValue(func() []step { return parseSteps(sql.File("schema/roles")) })

// sorts are the kinds of sql.Objects, in the same order.
var sorts = []string{"table", "table", "table", "table", "view", "view", "view", "view", "function", "function", "function"}

// besideSteps are the steps that make sql.Objects. Callers must not change them.
var besideSteps = sync.OnceValue(func() []step {
	all := make([]step, len(sql.Objects))
	for i, object := range sql.Objects {
		all[i] = step{kind: besideStep, name: object, sql: sql.Named(sql.File("schema/beside/"+object), nil), makes: sorts[i]}
	}
	return all
})

// besideStepOf returns the step that makes the object.
func besideStepOf(object string) step { return besideSteps()[slices.Index(sql.Objects, object)] }

// parseSteps reads the paragraphs of a file; each column and each comment on a column is also a
// step.
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

func (s step) unique() bool {
	return strings.HasPrefix(s.sql, "CREATE UNIQUE")
}

// rowsBefore tells whether the step makes a trigger that partitioned tables of old servers cannot
// have. Without it intervals are unbounded, new tasks are not told, STOP on an ended task stays.
func (s step) rowsBefore() bool { return s.kind == triggerStep && strings.Contains(s.sql, " BEFORE ") }

// ofPlain tells whether a partitioned table cannot have this step.
func (s step) ofPlain() bool {
	return s.unique() || s.kind == optionStep
}

// forViews tells whether an index serves only the views.
func (s step) forViews() bool { return s.name == "repeats_idx" }

// stepsOf returns the steps of one kind in order, including roleSteps.
func stepsOf(k kind) []step {
	return slices.DeleteFunc(slices.Concat(steps(), roleSteps()), func(s step) bool { return s.kind != k })
}

// wantedColumn is a column as its step defines it.
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

// wantedColumns are all columns of every table in order, except id, which comes with the table.
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

// fires tells whether the step makes a trigger function.
func (s step) fires() bool { return strings.Contains(s.sql, " RETURNS trigger ") }

// The columns that a repetition does not copy, besides generated ones.
var notCopied = []string{
	"id", "parent", "plan", "start", "stop", "pid", "state", "error", "sqlstate", "output", "notice", "attempt", "interrupted",
	"runs", "base", "next", "created", "after", "awaits", "freed", "met", "awaited", "skipped", "failures", "succeeded", "atomic", "xact", "xact_at", "origin", "stopping",
}

// later are columns without which a table is served, if a version before has made it and we may not
// change it. Statements of package query only read them, as x.column.
var later = []string{
	"rerun", "priority", "retry", "backoff", "catchup", "overlap", "max_failures", "owner", "on_fail", "notify", "settings", "format", "traceparent",
}

// Later returns these columns.
func Later() []string { return slices.Clone(later) }

// NotCopied are the columns that a repetition does not copy, besides generated ones, unquoted.
func NotCopied() []string { return slices.Clone(notCopied) }

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
// all other changes that matter.
const (
	acceptTrigger = "pgtaskd_accept"
	stateTrigger  = "pgtaskd_state"
	changeTrigger = "pgtaskd_update"
)

// wants tells whether this way of waking needs the step.
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
