package read

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/lane"
	"pgtaskd/work/run"
)

// readRows reads tasks as sql/query/prefetch.sql has them, but for those that wait still; regrouped
// tells that the limits of a group have changed.
func (p *Prefetch) readRows(rows pgx.Rows) (tasks []*run.Task, regrouped bool, err error) {
	r := rowReader{p: p}
	var before *run.Task // many have the same input
	_, err = pgx.ForEachRow(rows, r.columns(), func() error {
		regrouped = regrouped || r.changed != nil && *r.changed
		if before != nil && before.Row.ID == r.row.ID || p.waitsStill(&r.row) {
			return nil
		}
		if r.active != nil && !p.Groups.worth(r.row.Group, micros(*r.active), &r.expires) {
			return nil
		}
		before = r.task(before)
		tasks = append(tasks, before)
		return nil
	})
	if len(tasks) > 0 {
		p.Foreign(r.foreign)
	}
	now := time.Now()
	for _, t := range tasks {
		t.Read = now
	}
	return tasks, regrouped, err
}

// rowReader has what a row was scanned into, until the next one is.
type rowReader struct {
	p                        *Prefetch
	row                      run.Row
	timeout, live            int64
	delimiter, escape, quote byte
	null, group, remote      *string // nil: the text is too long to be read with others
	foreign                  bool
	changed                  *bool
	active                   *int64
	own                      []byte
	expires, created         *time.Time
	under                    under
}

// columns are where the columns of a row are scanned to.
func (r *rowReader) columns() []any {
	row := &r.row
	columns := []any{
		&row.ID, &row.Version, &row.MarkFirst, &r.expires, &row.Group, &row.Remote, &row.Max, &row.Priority,
		&row.Parent, &row.Schedule.Plan, &row.Attempt, &r.timeout, &r.live, &row.Session.Count, &row.How.Save, &row.Schedule.Drift,
		&row.How.Format.Header, &row.How.Format.String, &r.delimiter, &r.escape, &r.quote, &r.null,
		&row.Rerun, &row.Single, &row.Suspect, &row.Input, &row.Data, &row.Session.Epoch, &r.foreign, &r.own,
		&r.group, &r.remote, &r.created, &row.Key, &row.Schedule.Skipped, &r.active, &r.changed,
	}
	if r.p.Target.Inserter {
		columns = append(columns, r.under.columns()...)
	}
	return columns
}

// task is that of the row; it shares the input of the one before, where both have the same.
func (r *rowReader) task(before *run.Task) *run.Task {
	row := r.row
	row.How.Settings = settingsOf(r.own)
	row.Session.Role, row.Barred = r.under.read(&r.p.Target, r.p.Control.Facts().Superuser)
	row.How.Timeout, row.Session.Live = micros(r.timeout), micros(r.live)
	row.How.Format.Delimiter, row.How.Format.Escape, row.How.Format.Quote = r.delimiter, r.escape, r.quote
	if r.created != nil {
		row.Schedule.Late = r.created.Sub(row.Schedule.Plan)
	}
	if r.null != nil {
		row.How.Format.Null = *r.null
	}
	key := lane.KeyOf(row.Group, row.Remote)
	if run.IsBehind(row.Group) && r.group != nil {
		row.Group = *r.group
	}
	if run.IsBehind(row.Remote) && r.remote != nil {
		row.Remote = *r.remote
	}
	if row.Input == nil || row.Data == nil || r.null == nil || run.IsBehind(row.Group) || run.IsBehind(row.Remote) {
		row.Input, row.Data = nil, nil // all come together
	}
	t := &run.Task{
		Ticket: row.Ticket(key), Row: row, Reader: r.p.Control.Facts().PID, Again: r.p.Tries.Runs(row.ID),
	}
	if before != nil && before.Row.Input != nil && row.Input != nil && *before.Row.Input == *row.Input {
		t.Row.Input = before.Row.Input
		before.Examine()
		t.Traits = before.Traits
	}
	if r.expires != nil {
		t.Expires = *r.expires
	}
	return t
}

// micros is a time of so many microseconds, bounded to what a time.Duration holds.
func micros(n int64) time.Duration {
	const most = 1<<63 - 1
	if n > most/int64(time.Microsecond) {
		return most
	}
	return time.Duration(n) * time.Microsecond
}

// settingsOf reads the column settings, which is an object, or NULL. The trigger lets in only what
// has a text; what else there may be sets nothing.
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
