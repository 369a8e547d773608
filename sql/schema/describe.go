package schema

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
	"pgtaskd/sql/lock"
)

// Description has the facts of a table that operations on it need.
type Description struct {
	Exists        bool
	OID           int64    // changes when the table is made again
	Inserter      bool     // each task runs under the role that inserted it; the caller of Describe sets it
	Roles         bool     // a trigger of ours fills the column role
	Below         []Below  // tables that may keep it from being served, see Refusal
	Succeeded     bool     // it has the column succeeded
	Copied        []string // quoted names of the columns that a repetition copies
	Partitioned   bool
	Sequence      int64  // that gives the ids, if they are unique; 0: not known
	Encoding      string // of the database, by the server's name
	Waking        Waking
	Triggers      bool              // users' triggers, which may rely on the serving role's search_path
	Server        int               // its version, as server_version_num has it
	Register      int64             // oid of the register of sessions if it can be used; changes when it is made again; 0: none
	Leader        int64             // oid of the table of controllers, if writable; changes when it is made again; 0: none
	Group         int64             // oid of the table of groups if it can be read; 0: none
	GroupSequence int64             // counts changes of the table of groups
	Act           int64             // oid of the table of acts of the page, if writable; 0: none
	Absent        map[string]string // columns of later versions that the table lacks, with the values that stand for them
	Without       []string          // a line for each thing that the table is served without, with the reason
}

// Describe looks at a table. If the table does not exist, that is no error.
func Describe(ctx context.Context, conn *pgx.Conn, t sql.Table) (Description, error) {
	f, err := inspect(ctx, conn, t)
	if err != nil || f.oid == 0 {
		return Description{}, err
	}
	return f.describe(ctx, conn)
}

func (f *found) describe(ctx context.Context, conn *pgx.Conn) (d Description, err error) {
	t := f.besides.table
	d = Description{Exists: true, OID: f.oid, Partitioned: f.partitioned(), Server: f.version, Encoding: conn.PgConn().ParameterStatus("server_encoding")}
	d.Waking = f.waking()
	d.Roles, d.Below = f.trigger("pgtaskd_role") != nil, f.below
	d.Succeeded = f.column("succeeded") != nil
	d.Triggers = slices.ContainsFunc(f.triggers, func(t foundTrigger) bool { return !strings.HasPrefix(t.Name, "pgtaskd_") })
	var why [4]string
	d.Register, why[0] = f.besides.registered()
	d.Leader, why[1] = f.besides.usable("leader", serving, "does not show who leads")
	if d.Group, d.GroupSequence, why[2], err = f.besides.group(ctx, conn); err != nil {
		return Description{}, err
	}
	d.Act, why[3] = f.besides.usable("act", actRights, "the page does not act on many tasks at once")
	d.Without = slices.DeleteFunc(why[:], func(why string) bool { return why == "" })
	if f.hiddenFrom != "" {
		d.Without = append(d.Without, fmt.Sprintf("row security of table %s may hide tasks from role %s: ALTER ROLE %[2]s BYPASSRLS, or CREATE POLICY … ON %[1]s TO %[2]s USING (true), with no RESTRICTIVE policy beside it", t, f.hiddenFrom))
	}
	d.Without = append(d.Without, f.besides.foreign()...)
	if f.index(true, "", "id") != nil {
		d.Sequence = f.sequence
	}
	d.Absent = Absent(func(name string) bool { return f.column(name) != nil })
	for _, column := range f.columns {
		if !column.Generated && !column.Identity && !slices.Contains(notCopied, column.Name) {
			d.Copied = append(d.Copied, pgx.Identifier{column.Name}.Sanitize())
		}
	}
	return d, nil
}

// Waking describes how a table tells its leader of new tasks and of changes.
type Waking struct {
	Lock      int64  // an advisory lock: a sleeping leader holds it alone; INSERTs that do not wake it share it
	Channel   string // channel of NOTIFY while the leader sleeps
	Inserts   bool   // the trigger tells of new tasks and is enabled
	Changes   bool   // the triggers tell of all other changes that matter, on sql.Channel, and are enabled
	Published int64  // number of the publication that shows new tasks; changes when it is made again; 0: none
}

// waking returns how the table wakes the leader. The function pgtaskd_accept computes lock and
// channel in the same way.
func (f *found) waking() Waking {
	return Waking{
		Lock: lock.Sleeping + f.root, Channel: "pgtaskd_" + strconv.FormatInt(f.root, 10), Published: f.published,
		Inserts: f.enabled(acceptTrigger), Changes: f.enabled(stateTrigger) && f.enabled(changeTrigger),
	}
}

// GrantBeside gives a role the rights to our tables beside the table, as far as they exist.
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
		{d.Act, strings.Join(actRights, ", ") + " ON TABLE " + sql.Beside(t, "act")},
		{d.Register, strings.Join(registerRights, ", ") + " ON TABLE " + sql.Beside(t, "session")},
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

// Refusal returns an error if a part of the table must not be served. inserter: tasks run under the
// roles that insert them.
func (d Description) Refusal(inserter bool) error { return refusal(d.Below, inserter) }

// Absent returns the columns of later versions that a table lacks, with the values that stand for
// them.
func Absent(there func(name string) bool) map[string]string {
	lacks := map[string]string{}
	for _, column := range wantedColumns() {
		if slices.Contains(later, column.name) && !there(column.name) {
			lacks[column.name] = "(" + cmp.Or(column.def, "NULL") + ")::" + column.typ
		}
	}
	return lacks
}
