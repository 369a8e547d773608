package work

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// wakers are how new tasks are noticed.
type wakers struct {
	way      sql.Wake // now: Notify, WAL or Poll
	vigil    vigil    // with Notify
	stream   *stream  // with WAL
	unfollow func()   // ends the stream, if there is one
	unseen   unseen   // what the stream has told of

	postponed time.Time // until then, changes for another way are: the table is locked; zero: there are none
}

// wakeable completes the table for the way of waking that is wanted, or for the best that is possible, and says what keeps it from being
// the wanted one.
func (l *loop) wakeable(ctx context.Context) (sql.Description, error) {
	t, c := l.target, l.control
	var obstacles []string
	var d sql.Description
	var err error
	if t.Wake == sql.WAL {
		if obstacles, err = unstreamable(ctx, c.conn, c.queries); err != nil {
			return d, err
		}
		if len(obstacles) == 0 {
			if d, err = l.furnish(ctx, t); err != nil && !isDenied(err) {
				return d, err
			}
			if l.postponed.IsZero() {
				obstacles = unpublished(d, t)
			}
		}
		if len(obstacles) > 0 {
			t.Wake = sql.Auto
		}
	}
	if t.Wake != sql.WAL {
		if d, err = l.furnish(ctx, t); err != nil {
			return d, err
		}
	}
	l.way = wayOf(t.Wake, d)
	if t.Wake == sql.Notify && l.way != sql.Notify && l.postponed.IsZero() {
		obstacles = append(obstacles, silent(t))
	}
	if len(obstacles) > 0 {
		l.log.Warn().Str("wake", string(l.way)).Msg(impossible(l.target, obstacles))
	}
	return d, nil
}

// wakeable is the target with the best way of waking that is possible, as far as the log is concerned.
func (r *Report) wakeable(ctx context.Context, conn *pgx.Conn, t Target) (Target, error) {
	if t.Wake != sql.WAL {
		return t, nil
	}
	d, err := sql.Describe(ctx, conn, table(t))
	if err != nil {
		return t, err
	}
	obstacles, err := unstreamable(ctx, conn, d.Queries(table(t)))
	if err != nil {
		return t, err
	}
	if len(obstacles) == 0 && t.Create {
		_, err = rehearse(ctx, conn, t)
	}
	if len(obstacles) == 0 && (!t.Create || isDenied(err)) {
		obstacles = unpublished(d, t)
	}
	if len(obstacles) > 0 {
		r.say("%s", impossible(t, obstacles))
		t.Wake = sql.Auto
	}
	return t, nil // of another error of the rehearsal the table's own will tell
}

// impossible says what keeps the way of waking that is wanted from being taken.
func impossible(t Target, obstacles []string) string {
	return fmt.Sprintf("wake %q is not possible: %s", t.Wake, strings.Join(obstacles, "; "))
}

// wayOf is the way of waking that is possible with the table as it is.
func wayOf(wanted sql.Wake, d sql.Description) sql.Wake {
	switch {
	case wanted == sql.WAL && d.Published != 0:
		return sql.WAL
	case wanted != sql.Poll && d.TellsInserts && d.TellsChanges:
		return sql.Notify
	}
	return sql.Poll
}

// unstreamable are the reasons why the role cannot read the write-ahead log, each with what mends it.
func unstreamable(ctx context.Context, conn *pgx.Conn, q sql.Queries) ([]string, error) {
	rows, err := conn.Query(ctx, q.Text("unstreamable"))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// unpublished is why the log would show nothing of the table.
func unpublished(d sql.Description, t Target) []string {
	if d.Published != 0 {
		return nil
	}
	return []string{fmt.Sprintf("publication %s does not publish inserts into the table: run as the table's owner, with CREATE on the database: %s",
		sql.Publication(table(t)), sql.CreatePublication(table(t), d))}
}

// silent is why the table's triggers do not tell of all.
func silent(t Target) string {
	return fmt.Sprintf("triggers of table %s are missing or disabled: GRANT TRIGGER ON %s TO %s, or run the output of pgtaskd schema --config FILE",
		table(t), table(t), quoted(t.Connect["user"]))
}

// subscribe makes the triggers heard.
func (l *loop) subscribe(ctx context.Context) error {
	var channels []string
	if l.way == sql.Notify {
		channels = append(channels, l.control.table.Waking.Channel)
	}
	if l.way != sql.Poll && l.control.table.TellsChanges {
		channels = append(channels, sql.Channel(table(l.target)))
	}
	for _, channel := range channels {
		if _, err := l.control.conn.Exec(ctx, "LISTEN "+quoted(channel)); err != nil {
			return err
		}
	}
	return nil
}

// follow starts to read the write-ahead log, where that is the way; unfollow stops it and waits for its end.
func (l *loop) follow() {
	l.stream, l.unfollow = nil, func() {}
	if l.way != sql.WAL {
		return
	}
	ctx, cancel := context.WithCancel(l.crew.Context())
	s := &stream{target: l.target, published: l.control.table.Published, log: l.log, poke: l.inbox.wake}
	ended := make(chan struct{})
	l.crew.Go(func() {
		defer close(ended)
		s.run(ctx)
	})
	l.stream, l.unfollow = s, func() {
		cancel()
		<-ended
	}
}

// rewake goes over to the way of waking that is possible since the table has changed. A stream is made anew with its publication: a
// transaction may have inserted while there was none, and not have ended yet.
func (l *loop) rewake(ctx context.Context, way sql.Wake, before sql.Description) error {
	now := l.control.table
	if l.way == way && now.Waking == before.Waking && (way != sql.WAL || now.Published == before.Published) {
		return nil
	}
	l.log.Info().Str("wake", string(l.way)).Msg("table changed")
	l.unfollow()
	l.follow()
	asleep := l.vigil.asleep
	l.vigil, l.unseen = vigil{}, unseen{}
	if !asleep {
		return nil
	}
	_, err := l.holds(ctx, "awake", before.Waking)
	return err
}
