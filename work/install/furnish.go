package install

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/human"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
)

// furnish completes the table, for that way of waking, and says what it is like. What it can do
// without is postponed while somebody has locked it.
func (t *Table) furnish(ctx context.Context, wake sql.Wake) (schema.Description, error) {
	conn, o := t.Control.Conn(), options(t.Target)
	o.Wake, o.There = wake, t.described != "" || t.Served()
	made, _, err := complete(ctx, conn, t.Target, o, true)
	if errors.Is(err, schema.ErrGone) {
		return schema.Description{}, gone(t.Target)
	}
	made = t.unmade(made)
	if len(made) > 0 {
		line := t.Log.Info()
		if t.Served() { // somebody has taken it away
			line = t.Log.Warn()
		}
		line.Int("changes", len(made)).Msg(summary(made))
	}
	if err = t.postpone(ctx, o, err); err != nil {
		return schema.Description{}, err
	}
	if len(made) > 0 { // else what we have made would be taken for a change by somebody else
		if err := t.lookBefore(ctx); err != nil {
			return schema.Description{}, err
		}
	}
	described, err := schema.Describe(ctx, conn, t.Target.Relation())
	if err == nil && !described.Exists {
		err = fmt.Errorf("table %s does not exist", t.Target.Relation())
	}
	if err == nil { // what has come since it was completed
		err = described.Refusal(t.Target.Inserter)
	}
	if old, _ := shortfall(ctx, conn, t.Target, o); old != "" {
		described.Without = append(described.Without, old)
	}
	return described, err
}

// unmade logs what could not be made beside the table. It returns the rest of the changes.
func (t *Table) unmade(changes []schema.Change) (made []schema.Change) {
	for _, c := range changes {
		switch {
		case c.Failed == nil:
			made = append(made, c)
		case !c.Outdated: // else it is said of all that are
			t.without([]string{"goes without " + c.What + ", which cannot be made: " + c.Failed.Error()})
		}
	}
	return made
}

// without says what the table is served without.
func (t *Table) without(all []string) {
	for _, why := range all {
		t.Log.Hourly(t.Log.Warn(), why).Msg(why)
	}
}

// postpone takes an error for none if it is a lock that kept us from changing what the table can do
// without, and has it tried again.
func (t *Table) postpone(ctx context.Context, o schema.Options, err error) error {
	t.postponed = time.Time{}
	if !fault.Has(err, "55P03") {
		return err
	}
	if _, needed := shortfall(ctx, t.Control.Conn(), t.Target, o); needed != nil {
		return err
	}
	t.postponed = time.Now()
	t.Log.Hourly(t.Log.Warn(), "postponed").Err(err).Str("retry_in", human.Duration(postponement)).
		Msg("table is in use and cannot be changed; serving it as it is")
	return nil
}
