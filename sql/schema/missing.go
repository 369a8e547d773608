package schema

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"pgtaskd/major"
	"pgtaskd/sql"
)

// ErrGone is returned if a table that existed was dropped: pgtaskd does not make it again.
var ErrGone = errors.New("the table is gone")

// Missing returns the changes that the table needs, in order; none if it can be served as it is. It
// only reads, and any role can call it. A table that cannot be completed is an error: a column of
// the wrong type, a view, a default for a column that does not exist.
func Missing(ctx context.Context, conn *pgx.Conn, t sql.Table, o Options) ([]Change, error) {
	f, err := inspect(ctx, conn, t)
	if err != nil {
		return nil, err
	}
	return f.missing(ctx, conn, t, o)
}

// Whole describes a table if it lacks nothing, by a single look; nil: it lacks something.
func Whole(ctx context.Context, conn *pgx.Conn, t sql.Table, o Options) (*Description, error) {
	f, err := inspect(ctx, conn, t)
	if err != nil {
		return nil, err
	}
	if changes, err := f.missing(ctx, conn, t, o); err != nil || len(changes) > 0 {
		return nil, err
	}
	d, err := f.describe(ctx, conn)
	return &d, err
}

func (f *found) missing(ctx context.Context, conn *pgx.Conn, t sql.Table, o Options) ([]Change, error) {
	if o.There && f.oid == 0 {
		return nil, ErrGone
	}
	if err := f.unfit(t, o.Inserter); err != nil {
		return nil, err
	}
	m := &missing{found: f, table: t, wake: o.Wake}
	name, state := f.stateType(t)
	m.names, m.state = namesOf(t, name, f.partitioned(), o), state
	if f.partition {
		m.wake = sql.Poll // its triggers tell the leader of the whole table
	}
	for _, s := range steps() {
		m.step(s)
	}
	if f.partitioned() {
		for _, s := range partitionedSteps() {
			m.step(s)
		}
	}
	if err := m.roles(o.Inserter); err != nil {
		return nil, err
	}
	if err := m.configured(ctx, conn, o.Defaults); err != nil {
		return nil, err
	}
	return m.changes, nil
}

// roles adds the column role, and the trigger that fills and guards it, even to a table of a later
// pgtaskd. Neither is optional: without them tasks would run under a role that they name
// themselves. A guarding trigger of another build is good enough.
func (m *missing) roles(inserter bool) error {
	if !inserter {
		return nil
	}
	column := m.column("role")
	if column != nil && (!m.fits(*column, "text") || column.Generated) {
		return wrongType(m.table, *column, "text")
	}
	if m.partitioned() && !major.PartitionedTriggers.In(m.version) {
		return fmt.Errorf(`table %s is partitioned: "as": "inserter" needs PostgreSQL 13 or later for that`, m.table)
	}
	for _, s := range roleSteps() {
		before, trigger := len(m.changes), m.trigger(s.name)
		guarded := trigger != nil && trigger.Guards
		switch {
		case s.kind == triggerStep && trigger != nil && !guarded && m.partition: // it comes from the whole
			m.change("trigger "+s.name, "ALTER TABLE "+m.table.String()+" ENABLE ALWAYS TRIGGER "+s.name+";")
		case s.kind == triggerStep && trigger != nil && !guarded:
			m.add(s, "trigger "+s.name)
		case s.kind != commentStep:
			m.look(s) // even if a later pgtaskd has made the table
		case column == nil: // a person's own comment stays
			m.add(s, "comment on column role")
		}
		for i := range m.changes[before:] {
			m.changes[before+i].Optional = guarded && s.kind == triggerStep
		}
	}
	if column != nil && column.Default == "" { // maybe dropped: then tasks of the serving role would have no role
		m.change("default of column role", setDefault(m.table, "role", "current_user")+";")
	}
	return nil
}
