package schema

import (
	"context"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// Missing returns the changes that the table needs, in the order in which they are to be made; none
// if it can be served as it is. It only reads, and any role can do it. A table that cannot be
// completed is an error: a column of the wrong type, a view, a default for no column.
func Missing(ctx context.Context, conn *pgx.Conn, t sql.Table, o Options) ([]Change, error) {
	f, err := inspect(ctx, conn, t)
	if err != nil {
		return nil, err
	}
	if o.There && f.oid == 0 {
		return nil, ErrGone
	}
	if err := f.unfit(t, o.Inserter); err != nil {
		return nil, err
	}
	m := &missing{found: f, table: t, names: names{table: t, parts: f.partitioned(), serving: o.Serving, inserter: o.Inserter}, wake: o.Wake}
	m.names.state, m.state = f.stateType(t)
	if f.partition {
		m.wake = sql.Poll // its triggers speak to the leader of the whole table
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
