package read

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/exec/text"
	"pgtaskd/major"
	"pgtaskd/sql"
	"pgtaskd/work/control"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// readRows reads the rows of sql/query/prefetch.sql. It leaves out tasks that are held, and expired
// ones. regrouped tells that the limits of groups have changed.
func (p *Prefetch) readRows(rows pgx.Rows) (tasks []*run.Task, regrouped bool, err error) {
	r := rowReader{p: p}
	var before *run.Task // the task of the row before: many tasks share one input
	_, err = pgx.ForEachRow(rows, r.columns(), func() error {
		regrouped = regrouped || r.changed.Bool
		id := r.row.ID
		if before != nil && before.Row.ID == id || p.Holds.Waits(id) {
			return nil // a row with the same id came first, or the task is held
		}
		if r.active.Valid {
			r.expires.Time = p.Groups.expiry(r.row.Group, micros(r.active.Int64), r.expires.Time)
			if !r.expires.Time.IsZero() && r.expires.Time.Before(p.Groups.Clock.Now()) {
				return nil
			}
		}
		before = r.task(before)
		tasks = append(tasks, before)
		return nil
	})
	if len(tasks) > 0 {
		p.Runs.Foreign.Store(r.foreign)
	}
	now := time.Now()
	for _, t := range tasks {
		t.Read = now
	}
	return tasks, regrouped, err
}

// rowReader holds the values of the row that was read last.
type rowReader struct {
	p                        *Prefetch
	row                      run.Row
	timeout, live            int64
	delimiter, escape, quote byte
	null, group, remote      *string // nil: the text is too long to be read with others
	foreign                  bool
	changed                  pgtype.Bool
	active                   pgtype.Int8
	own                      []byte
	expires, created         pgtype.Timestamptz
	under                    under
}

// columns returns the places into which the columns of a row are scanned.
func (r *rowReader) columns() []any {
	row := &r.row
	columns := []any{
		&row.ID, &row.Version, &row.MarkFirst, &r.expires, &row.Group, &row.Remote, &row.Max, &row.Priority,
		&row.Parent, &row.Schedule.Plan, &row.Attempt, &r.timeout, &r.live, &row.Session.Count, &row.How.Save, &row.Schedule.Drift,
		&row.How.Format.Header, &row.How.Format.String, &r.delimiter, &r.escape, &r.quote, &row.How.Format.JSON, &r.null,
		&row.Rerun, &row.Single, &row.Suspect, &row.Input, &row.Data, &row.Session.Epoch, &r.foreign, &r.own,
		&r.group, &r.remote, &r.created, &row.Key, &row.Schedule.Skipped, &r.active, &r.changed,
	}
	if r.p.Target.Inserter {
		columns = append(columns, r.under.columns()...)
	}
	return columns
}

// task makes the task of the row. If the task before has the same input, both share its memory.
func (r *rowReader) task(before *run.Task) *run.Task {
	row := r.row
	row.How.Settings = settingsOf(r.own)
	row.Session.Role, row.RoleFailure = r.under.read(&r.p.Target, r.p.Control.Facts())
	row.How.Timeout, row.Session.Live = micros(r.timeout), micros(r.live)
	row.How.Format.Delimiter, row.How.Format.Escape, row.How.Format.Quote = r.delimiter, r.escape, r.quote
	if r.created.Valid {
		row.Schedule.Late = r.created.Time.Sub(row.Schedule.Plan)
	}
	if r.null != nil {
		row.How.Format.Null = *r.null
	}
	key := lane.KeyOf(row.Group, row.Remote)
	if run.IsStandIn(row.Group) && r.group != nil {
		row.Group = *r.group
	}
	if run.IsStandIn(row.Remote) && r.remote != nil {
		row.Remote = *r.remote
	}
	if row.Input == nil || row.Data == nil || r.null == nil || run.IsStandIn(row.Group) || run.IsStandIn(row.Remote) {
		row.Input, row.Data = nil, nil // the task reads all its texts together when it starts
	}
	t := &run.Task{
		Ticket: row.Ticket(key), Row: row, Reader: r.p.Control.Facts().PID, Again: r.p.Tries.Runs(row.ID),
	}
	t.Expires = r.expires.Time
	if before != nil && before.Row.Input != nil && row.Input != nil && *before.Row.Input == *row.Input {
		t.Row.Input = before.Row.Input
		before.Examine()
		t.Traits = before.Traits
	}
	return t
}

// micros turns microseconds into a time.Duration, and bounds them to its range.
func micros(n int64) time.Duration {
	const most = 1<<63 - 1
	if n > most/int64(time.Microsecond) {
		return most
	}
	return time.Duration(n) * time.Microsecond
}

// settingsOf reads the column settings: an object or NULL. The trigger refuses all else; it sets
// nothing.
func settingsOf(column []byte) (all [][2]string) {
	if column == nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(column))
	decoder.UseNumber()
	object := map[string]any{}
	if err := decoder.Decode(&object); err != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		all = append(all, [2]string{name, fmt.Sprint(object[name])})
	}
	return all
}

// under holds the columns about the role of a task, if tasks run under the role that inserted them.
type under struct {
	role      *string
	standing  string // as part/under.sql says
	superuser bool
	number    int64 // oid of the role: a later role of the same name has another one
}

func (u *under) columns() []any { return []any{&u.role, &u.standing, &u.superuser, &u.number} }

// read returns the role under which the task runs (the zero Role: the target's own), and why the
// task may not run.
func (u *under) read(t *target.Target, f *control.Facts) (role pool.Role, failure *text.Failure) {
	if !t.Inserter || u.standing == "serves" {
		return role, nil
	}
	if u.role != nil {
		role = pool.Role{Name: *u.role, Number: u.number, Superuser: u.superuser}
	}
	return role, u.bars(t, role.Name, f)
}

// bars says why pgtaskd does not log in as the role, and how to change that; nil: it logs in. If
// the configuration names no roles, a superuser may log in as any role.
func (u *under) bars(t *target.Target, role string, f *control.Facts) *text.Failure {
	user := sql.Quoted(t.Connect["user"])
	_, listed := t.Roles[role]
	listed = listed || f.Superuser && t.Roles == nil
	refuse := func(code, message, detail, hint string) *text.Failure {
		return text.NewFailure(message, code, "DETAIL", detail, "HINT", hint)
	}
	switch {
	case u.role == nil:
		return refuse("42501", "task has no role",
			"It runs under the role that inserted it, and nobody knows which that was.", "Set its role, as the owner of the table.")
	case u.standing == "absent":
		return refuse("42704", fmt.Sprintf("role %s does not exist", sql.Quoted(role)),
			"It inserted the task, under whose rights that would run.",
			"Create it, or set role to another one, as the owner of the table.")
	case u.standing == "superuser":
		return refuse("42501", fmt.Sprintf("role %s is a superuser", sql.Quoted(role)),
			fmt.Sprintf("pgtaskd serves the table as role %s, which is none, and so does not log in as one.", user),
			fmt.Sprintf("ALTER ROLE %s NOSUPERUSER, or insert the task as another role.", sql.Quoted(role)))
	case u.standing == "login":
		return refuse("28000", fmt.Sprintf("role %s is not permitted to log in", sql.Quoted(role)),
			"pgtaskd runs each task in a session that logs in as the role which inserted it.",
			fmt.Sprintf("ALTER ROLE %s LOGIN, with a CONNECTION LIMIT above 0.", sql.Quoted(role)))
	case u.standing == "stranger" && !listed:
		with := ""
		if major.MemberOptions.In(f.Version) { // it may be a member already, without SET
			with = " WITH SET TRUE"
		}
		return refuse("42501", fmt.Sprintf("pgtaskd may not log in as role %s", sql.Quoted(role)),
			fmt.Sprintf(`It is not among the "roles" of the target, and role %s is not a member of it.`, user),
			fmt.Sprintf(`Add it to "roles" in the configuration, or GRANT %s TO %s%s.`, sql.Quoted(role), user, with))
	}
	return nil
}

// integer reads a binary integer of 2, 4 or 8 bytes: the column's type is the user's. NULL is 0.
func integer(b []byte) int64 {
	switch len(b) {
	case 8:
		return int64(binary.BigEndian.Uint64(b))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	}
	return 0
}
