package work

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/human"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
	"pgtaskd/work/wake"
)

// install completes the table, where that is wanted, and looks at it; then it listens. A table or a
// right that was there while the target was served has been taken away by somebody, and is not put
// back: a table to be restored would be in the way of that.
func (l *loop) install(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, control.PrepareLimit)
	defer cancel()
	c, t := l.control, l.target.Relation()
	if err := l.lockParents(ctx); err != nil {
		return err
	}
	if err := l.remains(ctx); err != nil {
		return err
	}
	if err := l.lookAtDoor(ctx); err != nil {
		return err
	}
	way, described, err := l.wakeable(ctx)
	if err != nil {
		return err
	}
	described.Inserter = l.target.Inserter
	c.Describe(described)
	queries := c.Queries()
	l.runs.Queries.Store(&queries)
	l.without(described.Without)
	if err := l.followRole(ctx, described); err != nil {
		return err
	}
	err = lackingRights(ctx, c.Conn(), queries, t)
	if lack := new(lackOfRights); errors.As(err, &lack) && l.target.Create && !l.trouble.served {
		if err = grantAsAdmin(ctx, l.target, lack, true); err == nil { // we may lock the table now, so that nothing is under way unseen
			err = l.lookAtDoor(ctx)
		}
	}
	if err != nil {
		return err
	}
	return l.wake.Adopt(ctx, wake.Control{Conn: c.Conn(), Notices: &l.notices, Queries: queries}, way, described.Waking)
}

// remains reads what the table is like now, so that a change after this is noticed. It is an error
// when the table was there while the target was served, and is no more.
func (l *loop) remains(ctx context.Context) error {
	var columns *string
	err := l.control.Row(ctx, "columns", []any{l.target.Schema, l.target.Table}, &columns, nil, nil, nil)
	switch {
	case err != nil:
		return err
	case columns == nil && l.trouble.served:
		return gone(l.target)
	}
	l.described = ""
	if columns != nil {
		l.described = *columns
	}
	return nil
}

// gone is the error of a table that was there while the target was served.
func gone(t target.Target) error {
	restart := ""
	if t.Create {
		restart = ", or restart pgtaskd, which creates it"
	}
	return fmt.Errorf("table %s is gone: create or restore it%s", t.Relation(), restart)
}

// furnish completes the table and looks at it. What it can do without is postponed while somebody
// has locked it.
func (l *loop) furnish(ctx context.Context, t target.Target) (schema.Description, error) {
	o := options(t)
	o.There = l.described != "" || l.trouble.served
	made, _, err := complete(ctx, l.control.Conn(), t, o, true)
	if errors.Is(err, schema.ErrGone) {
		return schema.Description{}, gone(t)
	}
	made = l.unmade(made)
	if len(made) > 0 {
		line := l.log.Info()
		if l.trouble.served { // somebody has taken it away
			line = l.log.Warn()
		}
		line.Int("changes", len(made)).Msg(summary(made))
	}
	if err = l.postpone(ctx, t, o, err); err != nil {
		return schema.Description{}, err
	}
	if len(made) > 0 { // what is described next is what we have made, not a change that somebody else has made
		if err := l.remains(ctx); err != nil {
			return schema.Description{}, err
		}
		if err := l.lookAtDoor(ctx); err != nil {
			return schema.Description{}, err
		}
	}
	described, err := schema.Describe(ctx, l.control.Conn(), t.Relation())
	if err == nil && !described.Exists {
		err = fmt.Errorf("table %s does not exist", t.Relation())
	}
	if err == nil { // what has come since it was completed
		err = described.Refusal(t.Inserter)
	}
	if old, _ := shortfall(ctx, l.control.Conn(), t, o); old != "" {
		described.Without = append(described.Without, old)
	}
	return described, err
}

func options(t target.Target) schema.Options {
	return schema.Options{Defaults: t.Defaults, Wake: t.Wake, Inserter: t.Inserter, Serving: t.Connect["user"], Made: made(t)}
}

// relative is a table, or one above it.
type relative struct {
	Schema, Table string
	Name          string // on whatever way one has come to its server
	Other         bool   // it is above
}

// above are the table and those that it is a partition of, or inherits from.
func above(ctx context.Context, conn *pgx.Conn, q sql.Queries, t target.Target) ([]relative, error) {
	rows, err := conn.Query(ctx, q.Text("above"), t.Schema, t.Table)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[relative])
}

// lockParents refuses to serve a partition or child of a table that is served itself: their lanes
// would be counted apart.
func (l *loop) lockParents(ctx context.Context) error {
	all, err := above(ctx, l.control.Conn(), l.control.Queries(), l.target)
	for _, r := range all {
		if r.Other && err == nil {
			err = l.share(ctx, sql.Table{Schema: r.Schema, Name: r.Table})
		}
	}
	return err
}

// lackOfRights is the error of a role that may not do what it takes to serve the table: the
// statements that would let it.
type lackOfRights struct{ grants []string }

func (l *lackOfRights) Error() string { return "rights are missing: " + strings.Join(l.grants, "; ") }

// lackingRights returns a *lackOfRights where the role lacks some.
func lackingRights(ctx context.Context, conn *pgx.Conn, q sql.Queries, t sql.Table) error {
	rows, err := conn.Query(ctx, q.Text("rights"), t.Schema, t.Name)
	if err != nil {
		return err
	}
	grants, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err == nil && len(grants) > 0 {
		err = &lackOfRights{grants}
	}
	return err
}

// summary says what was created, and what was made again.
func summary(made []schema.Change) string {
	done := map[string][]schema.Change{}
	for _, change := range made {
		done[verb(change)] = append(done[verb(change)], change)
	}
	var sentences []string
	for _, v := range []struct{ verb, past string }{{"create", "created"}, {"make again", "made again"}} {
		if changes := done[v.verb]; len(changes) > 0 {
			sentences = append(sentences, v.past+" "+names(changes))
		}
	}
	return strings.Join(sentences, "; ")
}

// verb says what a change does.
func verb(c schema.Change) string {
	if c.Outdated {
		return "make again"
	}
	return "create"
}

// names are those of the first changes, which say most.
func names(changes []schema.Change) string {
	const most = 6
	names := make([]string, 0, most+1)
	for i, change := range changes {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(changes)-most))
			break
		}
		names = append(names, change.What)
	}
	return strings.Join(names, ", ")
}

// shortfall says what another version of pgtaskd has made, or a dump has brought, and may not be made
// again: the table is served with it. needed is the error of a table that cannot be served as it is.
func shortfall(ctx context.Context, conn *pgx.Conn, t target.Target, o schema.Options) (old string, needed error) {
	changes, err := schema.Missing(ctx, conn, t.Relation(), o)
	if err != nil {
		return "", err
	}
	var outdated, missing []schema.Change
	for _, c := range changes {
		if c.Outdated {
			outdated = append(outdated, c)
		}
		if !c.Optional {
			missing = append(missing, c)
		}
	}
	if len(outdated) > 0 {
		old = fmt.Sprintf("table %s has what another version of pgtaskd or a dump has brought, and what may not be replaced: %s; "+
			"run the output of pgtaskd schema --config FILE", t.Relation(), names(outdated))
	}
	if len(missing) > 0 {
		needed = fmt.Errorf("table %s lacks %s, and may not be changed: run the output of pgtaskd schema --config FILE", t.Relation(), names(missing))
	}
	return old, needed
}

// used tells whether tasks have ever been written to the table: then pauses may be under way.
func (l *loop) used(ctx context.Context) (used bool, err error) {
	err = l.control.Row(ctx, "used", nil, &used, &l.crashed)
	return used, err
}

// columnsTick is the shortest time between two looks at the columns by a leader that looks all the
// time: they cost more than looking whether anything is due.
const columnsTick = 50 * time.Millisecond

func (l *loop) columnsDue() bool { return !l.wake.Awake() || time.Since(l.look.columns) >= columnsTick }

// postponement is the time between two tries to change what the table can do without, while
// somebody has locked it: for the blink of each try those who insert wait as well.
const postponement = time.Minute

// postpone takes an error for none if it is a lock that kept us from changing what the table can do
// without, and has it tried again.
func (l *loop) postpone(ctx context.Context, t target.Target, o schema.Options, err error) error {
	l.postponed = time.Time{}
	if !fault.Has(err, "55P03") {
		return err
	}
	if _, needed := shortfall(ctx, l.control.Conn(), t, o); needed != nil {
		return err
	}
	l.postponed = time.Now()
	l.log.Hourly(l.log.Warn(), "postponed").Err(err).Str("retry_in", human.Duration(postponement)).
		Msg("table is in use and cannot be changed; serving it as it is")
	return nil
}

// followRole has what writes rows find names by the serving role's own search_path, after the
// server's, where triggers of users may rely on that: but not where everybody may create something
// in one of its schemas.
func (l *loop) followRole(ctx context.Context, d schema.Description) error {
	l.rolePath.Store(nil)
	path := "pg_catalog, pg_temp"
	if e := &l.entrance; d.Triggers && e.path != "" && !e.open {
		path = "pg_catalog, " + e.path
		l.rolePath.Store(&path)
	}
	return l.control.Follow(ctx, path)
}
