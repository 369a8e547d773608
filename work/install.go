package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/remote"
	"pgtaskd/sql"
)

// install completes the table, where that is wanted, and looks at it; then it listens. A table or a right that was there while the target
// was served has been taken away by somebody, and is not put back: a table to be restored would be in the way of that.
func (l *loop) install(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	c, t := l.control, table(l.target)
	if err := l.lockParents(ctx); err != nil {
		return err
	}
	if err := l.remains(ctx); err != nil {
		return err
	}
	described, err := l.wakeable(ctx)
	if err != nil {
		return err
	}
	queries := described.Queries(t)
	c.table, c.queries = described, queries
	l.texts.Store(&queries)
	err = lackingRights(ctx, c.conn, c.queries, t)
	if lack := new(lackOfRights); errors.As(err, &lack) && l.target.Create && !l.trouble.served {
		_, err = completeAsAdmin(ctx, l.target, err, func(conn *pgx.Conn) ([]sql.Change, error) {
			return nil, grant(ctx, conn, l.target)
		})
	}
	if err != nil {
		return err
	}
	return l.subscribe(ctx)
}

// remains is an error when the table was there while the target was served, and is no more.
func (l *loop) remains(ctx context.Context) error {
	if !l.trouble.served {
		return nil
	}
	described, err := sql.Describe(ctx, l.control.conn, table(l.target))
	if err != nil || described.Exists {
		return err
	}
	return &tableGone{table(l.target)}
}

// tableGone is the error of a table that was there while the target was served.
type tableGone struct{ table sql.Table }

func (g *tableGone) Error() string {
	return fmt.Sprintf("table %s has gone: create or restore it, or start pgtaskd anew to have it made", g.table)
}

// furnish completes the table and looks at it. What it can do without is postponed while somebody has locked it.
func (l *loop) furnish(ctx context.Context, t Target) (sql.Description, error) {
	made, err := complete(ctx, l.control.conn, t)
	if len(made) > 0 {
		l.log.Info().Int("changes", len(made)).Msg(summary(made))
	}
	if err = l.postpone(ctx, t, err); err != nil {
		return sql.Description{}, err
	}
	described, err := sql.Describe(ctx, l.control.conn, table(t))
	if err == nil && !described.Exists {
		err = fmt.Errorf("table %s does not exist", table(t))
	}
	return described, err
}

func options(t Target) sql.Options { return sql.Options{Defaults: t.Defaults, Wake: t.Wake} }

// lockParents refuses to serve a partition of a table that is served itself: their lanes would be counted apart.
func (l *loop) lockParents(ctx context.Context) error {
	c := l.control
	rows, err := c.conn.Query(ctx, c.queries.Text("parents"), l.target.Schema, l.target.Table)
	if err != nil {
		return err
	}
	parents, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t sql.Table, err error) {
		return t, row.Scan(&t.Schema, &t.Name)
	})
	if err != nil {
		return err
	}
	for _, parent := range parents {
		if err := l.share(ctx, parent); err != nil {
			return err
		}
	}
	return nil
}

// complete adds what the table lacks: as the target's role, or, where that may not, as the dsn's user, who then grants what it takes.
func complete(ctx context.Context, conn *pgx.Conn, t Target) ([]sql.Change, error) {
	if !t.Create {
		return nil, lacking(ctx, conn, t)
	}
	made, err := sql.Install(ctx, conn, table(t), options(t))
	if !isDenied(err) {
		return made, err
	}
	if lacking(ctx, conn, t) == nil {
		return nil, nil // what is missing is not needed
	}
	return completeAsAdmin(ctx, t, err, func(conn *pgx.Conn) ([]sql.Change, error) {
		made, err := sql.Install(ctx, conn, table(t), options(t))
		if err != nil {
			return made, err
		}
		return made, grant(ctx, conn, t)
	})
}

// completeAsAdmin does something as the dsn's user in the target's database; where that is the same user, or is refused too, the first
// refusal stands.
func completeAsAdmin(ctx context.Context, t Target, refusal error, do func(*pgx.Conn) ([]sql.Change, error)) ([]sql.Change, error) {
	if t.Admin["user"] == t.Connect["user"] && t.Admin["user"] != "" {
		return nil, refusal
	}
	t.Admin = t.Admin.With(remote.Settings{"dbname": t.Connect["dbname"]})
	conn, err := admin(ctx, t)
	if err != nil {
		return nil, refusal
	}
	defer func() { _ = conn.Close(ctx) }()
	made, err := do(conn)
	if isDenied(err) {
		return made, refusal
	}
	return made, err
}

// grant gives the target's role what it needs to serve the table.
func grant(ctx context.Context, conn *pgx.Conn, t Target) error {
	described, err := sql.Describe(ctx, conn, table(t))
	if err != nil {
		return err
	}
	user := quoted(t.Connect["user"])
	statements := "GRANT USAGE ON SCHEMA " + quoted(t.Schema) + " TO " + user + "; GRANT SELECT, INSERT, UPDATE, DELETE ON " + table(t).String() + " TO " + user
	if _, err := conn.PgConn().Exec(ctx, statements).ReadAll(); err != nil {
		return err
	}
	rows, err := conn.Query(ctx, described.Queries(table(t)).Text("sequences"), t.Schema, t.Table)
	if err != nil {
		return err
	}
	sequences, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, sequence := range sequences {
		if _, err := conn.Exec(ctx, "GRANT USAGE ON SEQUENCE "+sequence+" TO "+user); err != nil {
			return err
		}
	}
	return nil
}

// lackOfRights is the error of a role that may not do what it takes to serve the table: the statements that would let it.
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

// summary says what was created, and what removed.
func summary(made []sql.Change) string {
	var sentences []string
	removes := func(c sql.Change) bool { return c.Removes }
	if created := slices.DeleteFunc(slices.Clone(made), removes); len(created) > 0 {
		sentences = append(sentences, "created "+names(created))
	}
	if removed := slices.DeleteFunc(slices.Clone(made), func(c sql.Change) bool { return !c.Removes }); len(removed) > 0 {
		sentences = append(sentences, "removed "+names(removed))
	}
	return strings.Join(sentences, "; ")
}

// names are those of the first changes, which say most.
func names(changes []sql.Change) string {
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

// lacking is the error of a table that cannot be served as it is and is not to be changed.
func lacking(ctx context.Context, conn *pgx.Conn, t Target) error {
	changes, err := sql.Missing(ctx, conn, table(t), options(t))
	if err != nil {
		return err
	}
	changes = slices.DeleteFunc(changes, func(c sql.Change) bool { return c.Optional })
	if len(changes) == 0 {
		return nil
	}
	return fmt.Errorf("table %s lacks %s, and may not be changed: run what pgtaskd schema prints", table(t), names(changes))
}

// used tells whether tasks have ever been written to the table: then pauses may be under way.
func (l *loop) used(ctx context.Context) (used bool, err error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	err = l.control.conn.QueryRow(ctx, l.queries().Text("used")).Scan(&used)
	return used, err
}
