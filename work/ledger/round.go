package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Patience is how long a round waits for a lock: it may be the lock of a run that waits for the
// round.
const Patience = "50ms"

// round writes what is to be written now, in one exchange of messages and one transaction, and says
// how much. The error is one of the connection, or of the table as a whole.
func (l *Ledger) round(ctx context.Context, conn *pgx.Conn) (wrote int, err error) {
	l.writes.Lock()
	defer l.writes.Unlock()
	l.mu.Lock()
	entries := l.queue.Next(time.Now())
	l.mu.Unlock()
	if len(entries) == 0 {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, roundLimit)
	defer cancel()
	rows, err := l.write(ctx, conn, entries)
	class, refused := classOf(err)
	l.mu.Lock()
	var told []Told
	var look []*Entry
	switch {
	case err == nil:
		told, look = l.queue.Written(entries, rows)
	case refused:
		told, look = l.queue.Failed(entries, err, class, time.Now())
		err = nil
	default:
		told = lost(entries)
	}
	l.mu.Unlock()
	tell(told)
	for i, e := range look {
		seen, err := l.look(ctx, conn, e)
		if err != nil {
			tell(lost(look[i:]))
			return len(entries), err
		}
		l.mu.Lock()
		told := l.queue.Looked(e, seen, time.Now())
		l.mu.Unlock()
		tell(told)
	}
	return len(entries), err
}

func tell(all []Told) {
	for _, t := range all {
		t.Tell(t.Answer)
	}
}

// lost are the answers where the connection is.
func lost(entries []*Entry) (told []Told) {
	for _, e := range entries {
		result := Passed
		if e.Kind.urgent() {
			result = Lost
		}
		told = append(told, Told{e, Answer{Result: result}})
	}
	return told
}

// write sends the round. What is prepared need not wait for the disk: the log has it there before
// the transaction that it tells of.
func (l *Ledger) write(ctx context.Context, conn *pgx.Conn, entries []*Entry) (map[int64]Row, error) {
	c := newColumns(entries)
	queries, batch := l.Queries(), &pgx.Batch{}
	batch.Queue(queries.Text("ledger_limits"), Patience, c.pace())
	batch.Queue(queries.Text("ledger"), c.ids, c.what, c.versions, c.pids, c.starts, c.stops, c.outputs, c.notices, c.exactly, c.xacts, l.Place(), c.sinces)
	results := conn.SendBatch(ctx, batch)
	rows := map[int64]Row{}
	_, err := results.Exec()
	if err == nil {
		var found pgx.Rows
		if found, err = results.Query(); err == nil {
			var id int64
			var taken, empty bool
			_, err = pgx.ForEachRow(found, []any{&id, &taken, &empty}, func() error {
				rows[id] = Row{Stays: !taken, Empty: empty}
				return nil
			})
		}
	}
	if closed := results.Close(); err == nil { // with the answer to the COMMIT
		err = closed
	}
	return rows, err
}

// look finds out why a row was passed over.
func (l *Ledger) look(ctx context.Context, conn *pgx.Conn, e *Entry) (seen Look, err error) {
	queries := l.Queries()
	var own, others bool
	if err := conn.QueryRow(ctx, queries.Text("holders"), e.PID).Scan(&own, &others); err != nil {
		return seen, err
	}
	if own || others {
		return Look{Ours: true, Own: own}, nil
	}
	var holds, there bool
	batch := &pgx.Batch{}
	batch.Queue(queries.Text("ledger_limits"), Patience, "lazy")
	batch.Queue(queries.Text("blocked"), e.ID, int32(e.Version), e.PID, e.Since).QueryRow(func(row pgx.Row) error {
		return row.Scan(&seen.Ours, &seen.Own, &others, &holds, &seen.Free, &there)
	})
	err = conn.SendBatch(ctx, batch).Close()
	seen.Gone, seen.MayOwn = err == nil && !there, !others && (holds || e.waited)
	if _, refused := classOf(err); err != nil && refused {
		return Look{Ours: true}, nil // it is tried again
	}
	return seen, err
}

// columns are the entries as the statement takes them.
type columns struct {
	ids, pids    []int64
	what         []string
	versions     []int32
	starts       []time.Time
	sinces       []*time.Time
	stops        []*time.Time
	outputs      []*string
	notices      []*string
	exactly      []bool
	xacts        []*int64
	flush, usual bool
}

// pace is what the round waits for as it commits.
func (c *columns) pace() string {
	switch {
	case c.flush:
		return "flush"
	case c.usual:
		return "usual"
	}
	return "lazy"
}

func newColumns(entries []*Entry) *columns {
	c := &columns{}
	for _, e := range entries {
		c.ids, c.what, c.versions = append(c.ids, e.ID), append(c.what, string(e.Kind)), append(c.versions, int32(e.Version))
		c.pids, c.starts = append(c.pids, int64(e.PID)), append(c.starts, e.Start)
		var stop, since *time.Time
		if e.Kind != Mark && e.Kind != Claim {
			stop = &e.Stop
		}
		if e.Kind.urgent() {
			since = &e.Since
		}
		var xact *int64
		if e.Xact != 0 {
			xact = &e.Xact
		}
		c.stops, c.sinces, c.xacts = append(c.stops, stop), append(c.sinces, since), append(c.xacts, xact)
		c.outputs, c.notices = append(c.outputs, e.Output), append(c.notices, e.Notice)
		c.exactly = append(c.exactly, e.Exactly)
		c.flush, c.usual = c.flush || e.Flush, c.usual || e.Kind == Done
	}
	return c
}
