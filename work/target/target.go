package target

import (
	"math"
	"time"

	"pgtaskd/remote"
	"pgtaskd/sql"
)

// Target is a table of tasks with all that is needed to serve it. Package conf
// fills in every field and compares two targets with reflect.DeepEqual to know
// whether a running one has changed.
type Target struct {
	// Connect is the connection under which the target is served and its
	// tasks run: dbname and user are always set.
	Connect remote.Settings
	// Admin is the dsn as it was given. It only creates what is missing.
	Admin remote.Settings

	Schema, Table string

	Live
	Reset time.Duration // between searches for interrupted tasks

	// Defaults are the defaults of columns, as the text of their values.
	Defaults map[string]string

	DataLimit int64 // of input and of data, in bytes; 0: none
	Create    bool  // what is missing may be created; else it is only checked

	TimeZone string // in which repetitions and cron are counted; "": that of the role in the database

	Wake sql.Wake // how new tasks are noticed, as far as that is possible

	// Changes hands over settings that change while the target is served; nil: none do. It is not
	// compared.
	Changes *Changes

	// Stats count what happens while the target is served; nil: nobody reads them. They are not
	// compared.
	Stats *Stats

	// TaskLog says which tasks are logged; nil: none. It is not compared.
	TaskLog *TaskLog

	// Inserter has each task run under the role that inserted it, in a session that logs in as
	// that role. Roles are those that pgtaskd may log in as, besides those that the serving role is
	// a member of. nil: the configuration says nothing of them, and a superuser may log in as all.
	Inserter bool
	Roles    map[string]remote.Credential

	// Trust names roles that may own and make what the table uses, beside those that the door trusts
	// anyway (see package door). "PUBLIC" is everybody.
	Trust []string

	// Remotes are the connection strings that a task may name instead of giving one.
	Remotes map[string]string
}

// Name is how logs call the target: database/schema/table.
func (t Target) Name() string {
	return t.Connect["dbname"] + "/" + t.Schema + "/" + t.Table
}

// Relation is the target's table.
func (t Target) Relation() sql.Table { return sql.Table{Schema: t.Schema, Name: t.Table} }

// LongestText is the longest text that is run, in bytes.
func (t Target) LongestText() int64 {
	if t.DataLimit == 0 {
		return math.MaxInt64
	}
	return t.DataLimit
}
