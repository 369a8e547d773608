package place

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/remote"
	"pgtaskd/routine"
	"pgtaskd/sql"
	"pgtaskd/sql/query"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

// Found is the result of a look at a table.
type Found struct {
	Place Place // to be written by who leads the table here
	Verdict
	from          string     // where it was led
	seen          *time.Time // when for the last time; nil: nobody knows
	server        string     // the address to which the session is connected
	waits, atWork int64      // tasks
	table         sql.Table
}

// Memory remembers the latest timeline of a server that a controller has led on.
type Memory struct{ last Place }

// Leads remembers the place.
func (m *Memory) Leads(p Place) {
	if m != nil {
		m.last = p
	}
}

// has reports whether we have led the table of this database.
func (m *Memory) has(p Place) bool {
	return m != nil && m.last.System == p.System && m.last.Database == p.Database && m.last.Table == p.Table
}

// latest returns the highest timeline of the server of led that the memory knows, unless somebody
// has adopted the table since.
func (m *Memory) latest(led, here Place) int {
	if m == nil || m.last.System != here.System || !m.last.Adopted.Equal(led.Adopted) {
		return 0
	}
	return m.last.Timeline
}

// Look finds out where the table is, and whether it is a copy. A table that does not exist yet has
// an empty Place, and is none.
func Look(ctx context.Context, conn *pgx.Conn, t target.Target, known *Memory) (f Found, err error) {
	l := &look{conn: conn, target: t, queries: query.Of(schema.Description{}, t.Relation())}
	f.table, f.server = t.Relation(), conn.PgConn().Conn().RemoteAddr().String()
	var replicated, readable bool
	switch f.Place, replicated, readable, err = l.here(ctx); {
	case errors.Is(err, pgx.ErrNoRows):
		return f, nil
	case err != nil:
		return f, fmt.Errorf("cannot find out where the table is: %w", err)
	}
	if !readable {
		return f, nil
	}
	all, controllers, err := l.led(ctx)
	switch {
	case fault.IsDenied(err): // the role lacks rights: the error of serving says which
		return f, nil
	case fault.Has(err, "55P03") && known.has(f.Place): // somebody has locked it, and we have led here
		f.Place = f.Place.succeeding(known.last)
		return f, nil
	case err != nil:
		return f, fmt.Errorf("cannot read where the table was led: %w", err)
	case len(all) == 0 && replicated && !controllers:
		f.Verdict, f.from = Verdict{Differs: "a subscription writes it here, and nobody has led it"}, "a publication"
	case len(all) > 0:
		f.judge(all, max(known.latest(all[0].place, f.Place), l.others(ctx, all[0].place, f.Place)))
	}
	if f.Differs == "" {
		return f, nil
	}
	return f, l.row(ctx, "carried", []any{mostCounted}, &f.waits, &f.atWork)
}

// written is a place that a leader has written.
type written struct {
	place Place
	seen  *time.Time
	old   bool // the table has a task from before that
}

// judge compares where the table is with each place that is written. The last one comes first; a
// restore or a subscription may have added others.
func (f *Found) judge(all []written, latest int) {
	here := f.Place
	f.Place = here.succeeding(all[0].place)
	for i, w := range all {
		v := Judge(w.place, here, latest)
		if v.Differs != "" && (!v.Remade || w.old) {
			f.Verdict, f.from, f.seen, f.Place = v, w.place.from(), w.seen, here
			return
		}
		if i == 0 {
			f.Say = v.Say
		}
	}
}

const mostCounted = 100_000 // tasks of a copy

// look looks at one table.
type look struct {
	conn    *pgx.Conn
	target  target.Target
	queries sql.Queries
}

func (l *look) row(ctx context.Context, query string, args []any, into ...any) error {
	return l.conn.QueryRow(ctx, l.queries.Text(query), args...).Scan(into...)
}

// led reads where the table was led, and whether any controller has been there.
func (l *look) led(ctx context.Context) (all []written, controllers bool, err error) {
	rows, err := l.conn.Query(ctx, l.queries.Text("led"))
	if err != nil {
		return nil, false, err
	}
	var w written
	var text string
	_, err = pgx.ForEachRow(rows, []any{&text, &w.seen, &controllers, &w.old}, func() error {
		if text == "" {
			return nil
		}
		w.place = Place{}
		all = append(all, w)
		return json.Unmarshal([]byte(text), &all[len(all)-1].place)
	})
	return all, controllers, err
}

// here reads where the table is.
func (l *look) here(ctx context.Context) (p Place, replicated, readable bool, err error) {
	settings, err := remote.Complete(l.target.Connect)
	if err != nil {
		return p, false, false, err
	}
	p.Addresses, p.Cluster = addresses(settings), l.target.Cluster
	err = l.row(ctx, "here", []any{l.target.Schema, l.target.Table},
		&p.Name, &p.Database, &p.Table, &p.Major, &p.Started, &p.Directory, &p.Neon, &replicated, &readable)
	if err != nil {
		return p, false, false, err
	}
	p.Started = p.Started.UTC()
	p.System, p.Timeline, err = history(ctx, l.conn, l.queries)
	return p, replicated, readable, err
}

// history returns the server's system identifier and timeline, as far as it tells them.
func history(ctx context.Context, conn *pgx.Conn, q sql.Queries) (system string, timeline int, err error) {
	var place string
	if err = conn.QueryRow(ctx, q.Text("place")).Scan(&place); err == nil {
		system, _, _ = strings.Cut(place, "/")
	}
	if err == nil || fault.IsAnswer(err) {
		err = conn.QueryRow(ctx, q.Text("timeline")).Scan(&timeline)
	}
	if fault.IsAnswer(err) { // a right is missing, or the server is none that has timelines
		err = nil
	}
	return system, timeline, err
}

// othersLimit limits how long the other hosts may take to answer: the target is not served
// meanwhile.
const othersLimit = time.Second

// others returns the highest timeline of the same server that another host of the connection shows.
// It does not ask if the timeline is new: then the server was just promoted.
func (l *look) others(ctx context.Context, led, here Place) (latest int) {
	hosts := hostsOf(l.target.Connect)
	if len(hosts) < 2 || here.System == "" || here.System != led.System || here.Timeline > led.Timeline {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, othersLimit)
	defer cancel()
	found := make([]int, len(hosts))
	crew := routine.New(ctx)
	for i, one := range hosts {
		crew.Go(func() { found[i] = timelineOf(ctx, one, here.System, l.queries) })
	}
	crew.Wait()
	return slices.Max(found)
}

// hostsOf returns the settings for each of the hosts of a connection.
func hostsOf(s remote.Settings) (all []remote.Settings) {
	part := func(key string, i, n int) string {
		parts := strings.Split(s[key], ",")
		if len(parts) == n {
			return parts[i]
		}
		return parts[0]
	}
	n := max(strings.Count(s["host"], ","), strings.Count(s["hostaddr"], ",")) + 1
	for i := range n {
		all = append(all, s.With(remote.Settings{
			"host": part("host", i, n), "hostaddr": part("hostaddr", i, n), "port": part("port", i, n), "target_session_attrs": "any",
		}))
	}
	return all
}

// timelineOf asks one host. 0: it does not answer, or is another server.
func timelineOf(ctx context.Context, s remote.Settings, system string, q sql.Queries) int {
	conn, err := control.Admin(ctx, s)
	if err != nil {
		return 0
	}
	defer control.HangUp(conn)
	found, timeline, err := history(ctx, conn, q)
	if err != nil || found != system {
		return 0
	}
	return timeline
}
