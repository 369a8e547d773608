package query

import (
	"slices"
	"strconv"
	"strings"

	"pgtaskd/sql"
	"pgtaskd/sql/lock"
	"pgtaskd/sql/schema"
)

// Of returns the operations on the table t, which was described. In their texts stand
//   - for the table: :table its name, :table_text the same as text, :schema_text its schema,
//     :table_number its number;
//   - for what is beside it: :register the register of sessions, :leader the table of controllers,
//     :groups that of groups, with :group_number its number and :group_sequence that of the sequence
//     that counts its changes; :besides the names of all of these, :publication the table's own
//     publication, as text;
//   - for lanes: :key_of_group and :key_of_remote what tells them apart, :group_itself and
//     :remote_itself the names where those are not the same; :key_of_limit and :prefix_of_group what a
//     row of :groups is told by, :limits the numbers of the locks of those who change it;
//   - for repetitions: :copied the columns that one copies, :copied_of_t the same of the row t,
//     :unless_key_waits what an INSERT does where another task waits with the key, :made whether it
//     has made the row w, and not met it; :sequence the number of the sequence that ids come from (0:
//     not known), :drawn_id the column that takes one, :drawn_id_of_f the id;
//   - for roles: :under what is read of the role under which the task t runs (nothing where all run
//     under ours), :under_ours that all do (nothing where they do not), :and_guarded that the trigger that
//     fills role is there (nothing where they do), :role_kept, :role_named and :role_of_f the column
//     role, where one is filled, :met_role the same of the one row r of the window k, :of_that_role and
//     :of_its_role that rows are of one role,
//     :role_of_f_first what brings rows of the role of the row f to the front, :owner_of_t the owner
//     of the row t, NULL where there is no column for it;
//   - for sessions: :earlier whether one is of an earlier leader, :may_end whether we may end the
//     backend a.
//
// The files of sql/part, which several operations share, stand for their names in the same way.
//
// Rows are looked up by id BETWEEN x AND x, in a LATERAL with ORDER BY id: each by itself and by the
// index of id, whatever the statistics say. With = the server may join two tables as a whole.
//
// A state is written as a literal that takes its type from the column, in a CASE from an ELSE that
// is never reached: a cast names its type, and somebody could take a name that has become free for
// a domain of theirs, whose code would run.
func Of(table schema.Description, t sql.Table) sql.Queries {
	d := facts(table)
	of := make([]string, len(d.Copied))
	for i, column := range d.Copied {
		of[i] = "t." + column
	}
	names := map[string]string{
		":table":       t.String(),
		":copied":      strings.Join(d.Copied, ", "),
		":copied_of_t": strings.Join(of, ", "),
		":publication": sql.Literal(sql.Publication(t)),
		":register":    sql.Beside(t, "session"),

		":key_of_group": d.key(`t."group"`), ":key_of_remote": d.key("t.remote"),
		":group_itself": d.itself(`t."group"`), ":remote_itself": d.itself("t.remote"),

		":besides": sql.Array(sql.BesideNames(t)),
		":leader":  sql.Beside(t, "leader"), ":schema_text": sql.Literal(t.Schema), ":table_text": sql.Literal(t.String()), ":groups": sql.Beside(t, "group"), ":limits": strconv.FormatInt(lock.Limits, 10),
		":table_number": strconv.FormatInt(d.OID, 10),
		":group_number": strconv.FormatInt(d.Group, 10), ":group_sequence": strconv.FormatInt(d.GroupSequence, 10),
		":key_of_limit": d.key(`g."group"`), ":prefix_of_group": d.prefix(`g."group"`),

		":drawn_id": "", ":drawn_id_of_f": "", ":unless_key_waits": "", ":made": "true",
		":owner_of_t": "NULL::text",
	}
	if slices.Contains(d.Copied, `"owner"`) && !d.Partitioned { // a partitioned table has no keys
		names[":owner_of_t"] = "t.owner"
	}
	if d.Sequence != 0 {
		names[":drawn_id"], names[":drawn_id_of_f"] = "id,", "f.drawn,"
	} else {
		names[":sequence"] = "0"
	}
	if !d.Partitioned {
		names[":unless_key_waits"] = "ON CONFLICT (wait_key) WHERE wait_key IS NOT NULL DO UPDATE SET parent = w.parent"
		names[":made"] = "w.xmax = 0"
	}
	d.nameRoles(t, names)
	if d.Register == 0 {
		names[":earlier"] = ":earlier_named"
	}
	if d.Server < 140000 {
		names[":pages"] = ":pages_listed"
	}
	if d.Group == 0 {
		names[":regrouped"] = "$6::int8 = 0 AND NULL::bool"
	}
	return sql.NewQueries("query", names)
}

// facts are what is known of the table.
type facts schema.Description

// nameRoles sets the names for the role of a row, and for the backends that we may end: they depend
// on whether the table has a column role, and whether each task runs under its own.
func (d facts) nameRoles(t sql.Table, names map[string]string) {
	for _, name := range []string{":role_kept", ":role_named", ":role_of_f", ":role_of_f_first", ":of_its_role", ":of_that_role", ":met_role"} {
		names[name] = ""
	}
	if d.Roles {
		names[":role_kept"], names[":role_named"], names[":role_of_f"] = ", t.role", ", role", ", f.role"
		names[":role_of_f_first"] = "(t.role = f.role) IS NOT TRUE,"
		names[":met_role"] = ", max(r.role) OVER k AS role"
		names[":of_that_role"] = " AND (f.role = t.role) IS TRUE"
		names[":of_its_role"] = " AND w.role = (SELECT t.role FROM " + t.String() +
			" AS t WHERE t.ctid = b.place AND t.tableoid = b.part)"
	}
	if d.Inserter {
		names[":role_of_settings"], names[":role_within"] = ", "+roleOf, ", t.role"
		names[":under_ours"] = ""
		names[":and_guarded"] = "AND " + sql.Named(":guarded", map[string]string{":guarded_part": "t.tableoid", ":guarded_whole": names[":table_number"] + "::oid"})
	} else {
		names[":role_of_settings"], names[":role_within"], names[":under"], names[":and_guarded"] = "", "", "", ""
		names[":may_end"] = ownBackend
	}
}

// Expressions for the backend's role, where all tasks run under one role, and for the role of the
// row, where each runs under its own.
const (
	ownBackend = "a.usesysid = quote_ident(current_user)::regrole::oid"
	roleOf     = "(SELECT r.oid FROM pg_roles AS r WHERE r.rolname = t.role)"
)

// key is the expression that tells a name from others.
func (d facts) key(column string) string {
	part := ":key_ascii"
	if d.Encoding == "UTF8" {
		part = ":key"
	}
	return sql.Named(part, map[string]string{":column": column})
}

// prefix is the expression for the beginning of the names that a name ending in % stands for, in
// the form of key.
func (d facts) prefix(column string) string {
	before := "left(" + column + ", -1)"
	if d.Encoding == "UTF8" {
		return before
	}
	return "encode(convert_to(" + before + ", getdatabaseencoding()), 'escape')"
}

// itself is the expression for a name, where its key is not the same; NULL where it is, or where
// the name is long, or is not to be read.
func (d facts) itself(column string) string {
	if d.Encoding == "UTF8" {
		return "NULL::text"
	}
	return "CASE WHEN octet_length(" + column +
		") <= 1000 AND NOT $3::bool THEN " + column + " END"
}
