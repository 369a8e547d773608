package query

import (
	"cmp"
	"strconv"
	"strings"

	"pgtaskd/major"
	"pgtaskd/sql"
	"pgtaskd/sql/lock"
	"pgtaskd/sql/schema"
)

// Of returns the operations on the table t, which was described. It replaces these words in their
// texts:
//   - names of the table: :table, the same as text :table_text, its schema :schema_text, its oid
//     :table_number;
//   - objects beside it: :register is the register of sessions, :leader the table of controllers,
//     :groups the table of groups, :group_number its oid, :group_sequence the oid of the sequence
//     that counts its changes; :besides are the names of all objects beside the table, and
//     :publication is the table's own publication, both as text;
//   - lanes: :key_of_group and :key_of_remote are short keys for the two names, :group_itself and
//     :remote_itself the names where they differ from the keys; :key_of_limit and :prefix_of_group
//     are the keys of a row of :groups, :limits the number of the lock for changing these rows;
//   - repetitions: :copied are the columns that a repetition copies, :copied_of_t the same of the
//     row t; :unless_key_waits says what an INSERT does if another task waits with the key, and
//     :made whether it has made the row w or met it; :sequence is the oid of the sequence for ids
//     (0: not known), :drawn_id the column that takes an id from it, :drawn_id_of_f that id;
//   - the column succeeded, if the table has it: :succeeded names it, :succeeded_of_t is its value
//     after the ended task t, :succeeded_is sets it to that, :or_succeeded adds whether it changes,
//     :own_success is that of the task t itself;
//   - roles: :under reads the role under which the task t runs (empty if all tasks run under ours);
//     :under_ours checks that all tasks run under ours, :and_guarded that the trigger that fills
//     role is there (each is empty in the other case); :role_kept, :role_named and :role_of_f are
//     the column role, if the table fills it, :met_role the same of the one row r of the window k;
//     :of_that_role and :of_its_role compare roles, :role_of_f_first sorts rows of the role of the
//     row f to the front; :owner_of_t is the owner of the row t, NULL in a partitioned table;
//   - sessions: :earlier tells whether a session belongs to an earlier leader, :may_end whether we
//     may end the backend a.
//
// The name of a file in sql/part stands for its text in the same way.
//
// Statements look rows up by id BETWEEN x AND x, in a LATERAL with ORDER BY id. So the server looks
// up each row by the index on id, whatever the statistics say. With = it may join two whole tables.
//
// A state is written as a literal that takes its type from the column: in a CASE with an ELSE that
// is never reached. A cast would name the type, and somebody could give a freed name to a domain of
// theirs, whose code would then run.
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
		":leader":  sql.Beside(t, "leader"), ":leader_name": sql.Literal(sql.BesideName(t, "leader")), ":schema_text": sql.Literal(t.Schema), ":table_text": sql.Literal(t.String()), ":groups": sql.Beside(t, "group"), ":limits": strconv.FormatInt(lock.Limits, 10),
		":table_number": strconv.FormatInt(d.OID, 10),
		":group_number": strconv.FormatInt(d.Group, 10), ":group_sequence": strconv.FormatInt(d.GroupSequence, 10),
		":key_of_limit": d.key(`g."group"`), ":prefix_of_group": d.prefix(`g."group"`),

		":drawn_id": "", ":drawn_id_of_f": "", ":unless_key_waits": "", ":made": "true",
		":owner_of_t": "NULL::text",

		":succeeded": "", ":succeeded_of_t": "", ":succeeded_is": "", ":or_succeeded": "", ":own_success": "NULL::timestamptz",
	}
	if d.Succeeded {
		names[":succeeded"], names[":succeeded_of_t"] = "succeeded,", "CASE WHEN t.state = 'DONE' THEN t.stop ELSE t.succeeded END AS succeeded,"
		names[":succeeded_is"], names[":or_succeeded"], names[":own_success"] = "succeeded = f.succeeded,", " OR t.state = 'DONE'", "t.succeeded"
	}
	if !d.Partitioned { // a partitioned table has no keys
		names[":owner_of_t"] = cmp.Or(d.Absent["owner"], "t.owner")
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
	if !major.TIDRange.In(d.Server) {
		names[":pages"] = ":pages_listed"
	}
	if d.Group == 0 {
		names[":regrouped"] = "$6::int8 = 0 AND NULL::bool"
	}
	sql.Without(names, d.Absent)
	return sql.NewQueries("query", names)
}

// facts are the facts that are known of the table.
type facts schema.Description

// nameRoles sets the words for the role of a row, and for the backends that we may end. They depend
// on whether the table has a column role, and whether each task runs under its own role.
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
		names[":role_away"] = ", t.role, coalesce((SELECT r.rolsuper FROM pg_roles AS r WHERE r.rolname = t.role), false)"
		names[":and_guarded"] = "AND " + sql.Named(":guarded", map[string]string{":guarded_part": "t.tableoid", ":guarded_whole": names[":table_number"] + "::oid"})
	} else {
		names[":role_of_settings"], names[":role_within"], names[":under"], names[":and_guarded"] = "", "", "", ""
		names[":role_away"] = ", '', false"
		names[":may_end"] = ownBackend
	}
}

// ownBackend: the backend has the role under which all tasks run. roleOf: the role of the row, if
// each task runs under its own.
const (
	ownBackend = "a.usesysid = quote_ident(current_user)::regrole::oid"
	roleOf     = "(SELECT r.oid FROM pg_roles AS r WHERE r.rolname = t.role)"
)

// key is the expression for the short key of a name.
func (d facts) key(column string) string {
	part := ":key_ascii"
	if d.Encoding == "UTF8" {
		part = ":key"
	}
	return sql.Named(part, map[string]string{":column": column})
}

// prefix is the expression for the prefix that a name ending in % stands for, in the form of key.
func (d facts) prefix(column string) string {
	before := "left(" + column + ", -1)"
	if d.Encoding == "UTF8" {
		return before
	}
	return "encode(convert_to(" + before + ", getdatabaseencoding()), 'escape')"
}

// itself is the expression for a name whose key differs from it. It gives NULL if they are the same,
// or if the name is long or must not be read.
func (d facts) itself(column string) string {
	if d.Encoding == "UTF8" {
		return "NULL::text"
	}
	return "CASE WHEN octet_length(" + column +
		") <= 1000 AND NOT $3::bool THEN " + column + " END"
}
